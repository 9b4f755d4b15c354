//! The whole table of roles and permissions, written a second time in another form.

use super::*;

/// P: platform admin, T: tenant admin, D: developer, V: viewer.
const TABLE: [(Permission, &str); 23] = [
    (Permission::CreateTenant, "P..."),
    (Permission::ListTenants, "P..."),
    (Permission::DeleteTenant, "P..."),
    (Permission::SetLimits, "P..."),
    (Permission::ReadTenant, "PTDV"),
    (Permission::IssueToken, "PT.."),
    (Permission::RevokeToken, "PT.."),
    (Permission::ReadTokens, "PT.."),
    (Permission::ReadAudit, "PT.."),
    (Permission::ManageKeys, ".T.."),
    (Permission::ReadKeys, ".TDV"),
    (Permission::UploadArtifact, ".TD."),
    (Permission::RevokeArtifact, ".TD."),
    (Permission::ReadArtifacts, ".TDV"),
    (Permission::SubmitJob, ".TD."),
    (Permission::CancelJob, ".TD."),
    (Permission::ReadJobs, ".TDV"),
    (Permission::CreateStream, ".TD."),
    (Permission::AppendRecords, ".TD."),
    (Permission::SealStream, ".TD."),
    (Permission::DeleteStream, ".T.."),
    (Permission::ReadStreams, ".TDV"),
    (Permission::ReadTables, ".TDV"),
];

#[test]
fn each_role_has_what_the_table_says() {
    assert_eq!(TABLE.map(|(permission, _)| permission), Permission::ALL);
    for (permission, marks) in TABLE {
        for (role, letter) in Role::ALL.into_iter().zip("PTDV".chars()) {
            assert_eq!(role.has(permission), marks.contains(letter), "{role} and {permission}");
        }
    }
}

#[test]
fn a_role_is_the_same_word_everywhere() {
    for role in Role::ALL {
        assert_eq!(role.to_string().parse(), Ok(role));
        assert_eq!(serde_json::to_value(role).expect("a role"), serde_json::json!(role.as_str()));
        assert_eq!(serde_json::from_value::<Role>(serde_json::json!(role.as_str())).expect("a role"), role);
    }
    let said = "Viewer".parse::<Role>().expect_err("capitals are no role").to_string();
    assert!(said.contains("\"Viewer\"") && said.contains("tenant-admin"), "{said}");
}

#[test]
fn the_document_has_the_same_table() {
    let document = include_str!("../../../../docs/tenancy.md");
    for (permission, marks) in TABLE {
        let cells: Vec<&str> = marks.chars().map(|mark| if mark == '.' { "" } else { "yes" }).collect();
        let row = format!("| {permission} | {} |", cells.join(" | ")).replace("|  |", "| |").replace("|  |", "| |");
        assert!(document.contains(&row), "docs/tenancy.md lacks the row {row}");
    }
}
