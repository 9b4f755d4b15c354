//! Versions are immutable and only go up.

use super::*;

#[tokio::test]
async fn an_admitted_component_is_found_by_its_version_and_as_the_latest() {
    let world = World::new().await;
    let made = world.upload("acme", "1.2.0", &component("a")).await.unwrap();
    assert_eq!((made.name.as_str(), made.version.as_str(), made.size), ("metrics", "1.2.0", 9));
    assert_eq!((made.digest.len(), made.hooks.as_slice()), (64, &["mapper".to_owned()][..]));
    assert_eq!((made.admitted_at, made.expires_at), (START, START + 30 * DAY));
    assert_eq!(made.key_id, key("acme").public().id().to_string());
    let got = world.registry.get(&caller("acme", Role::Viewer), &id("acme"), "metrics", "1.2.0").await.unwrap();
    assert_eq!(got, made);
    assert_eq!(world.registry.find(&id("acme"), "metrics", None).await.unwrap(), Some(made));
}

#[tokio::test]
async fn the_same_bytes_again_get_the_first_answer_again() {
    let world = World::new().await;
    let first = world.upload("acme", "1.0.0", &component("a")).await.unwrap();
    world.clock.0.store(START + DAY, Ordering::Relaxed);
    assert_eq!(world.upload("acme", "1.0.0", &component("a")).await.unwrap(), first);
    assert_eq!(world.admission.admitted.load(Ordering::Relaxed), 1);
    // Also when a higher version came since.
    world.upload("acme", "1.1.0", &component("b")).await.unwrap();
    assert_eq!(world.upload("acme", "1.0.0", &component("a")).await.unwrap(), first);
}

#[tokio::test]
async fn other_bytes_as_the_same_version_are_refused() {
    let world = World::new().await;
    world.upload("acme", "1.0.0", &component("a")).await.unwrap();
    let error = world.upload("acme", "1.0.0", &component("b")).await.unwrap_err();
    assert!(matches!(&error, RegistryError::VersionTaken { version, .. } if version == "1.0.0"), "{error}");
    assert!(error.to_string().contains("raise the version"), "{error}");
}

#[tokio::test]
async fn a_version_that_is_not_higher_than_all_before_is_refused() {
    let world = World::new().await;
    world.upload("acme", "1.10.0", &component("a")).await.unwrap();
    for older in ["1.9.0", "1.2.9", "0.99.0"] {
        let refused = world.upload("acme", older, &component("b")).await;
        assert!(matches!(&refused, Err(RegistryError::VersionNotNewer(_))), "{refused:?}");
        assert_refusal(&refusal(refused), "version-not-newer", "version", "raise the version");
    }
    // A name of its own begins anew; a tenant of its own, too.
    world.upload("other", "1.0.0", &component("b")).await.unwrap();
}

#[tokio::test]
async fn a_revoked_version_still_counts_as_the_highest() {
    let world = World::new().await;
    world.upload("acme", "2.0.0", &component("a")).await.unwrap();
    let by = caller("acme", Role::Developer);
    world.registry.revoke(&by, &id("acme"), "metrics", "2.0.0", "a hole").await.unwrap();
    let refused = world.upload("acme", "1.0.0", &component("b")).await;
    assert_refusal(&refusal(refused), "version-not-newer", "version", "raise the version");
}

#[tokio::test]
async fn of_uploads_of_one_version_at_once_one_wins_and_the_others_learn_it() {
    let world = World::new().await;
    let (a, b) = (component("a"), component("b"));
    let (first, second) = tokio::join!(world.upload("acme", "1.0.0", &a), world.upload("acme", "1.0.0", &b));
    let won = [&first, &second].into_iter().filter(|answer| answer.is_ok()).count();
    assert_eq!(won, 1, "{first:?} {second:?}");
    let lost = first.err().or(second.err()).unwrap();
    assert!(matches!(lost, RegistryError::VersionTaken { .. }), "{lost}");
}

#[tokio::test]
async fn a_list_is_by_name_and_then_by_version_as_numbers() {
    let world = World::new().await;
    for (version, text) in [("1.2.0", "a"), ("1.10.0", "b"), ("2.0.0", "c")] {
        world.upload("acme", version, &component(text)).await.unwrap();
    }
    world.upload("other", "1.0.0", &component("d")).await.unwrap();
    let by = caller("acme", Role::Viewer);
    let list = async |after, limit| {
        let page = world.registry.list(&by, &id("acme"), None, after, limit).await.unwrap();
        page.into_iter().map(|artifact| artifact.version).collect::<Vec<_>>()
    };
    assert_eq!(list(None, 100).await, ["1.2.0", "1.10.0", "2.0.0"]);
    assert_eq!(list(Some(("metrics", "1.2.0")), 1).await, ["1.10.0"]);
}

#[tokio::test]
async fn what_is_not_there_and_what_is_another_tenants_look_the_same() {
    let world = World::new().await;
    world.upload("acme", "1.0.0", &component("a")).await.unwrap();
    let by = caller("other", Role::TenantAdmin);
    let there = world.registry.get(&by, &id("other"), "metrics", "1.0.0").await.unwrap_err();
    assert!(matches!(there, RegistryError::NotFound { .. }), "{there}");
    let foreign = world.registry.get(&by, &id("acme"), "metrics", "1.0.0").await.unwrap_err();
    assert!(matches!(foreign, RegistryError::Denied(_)), "{foreign}");
    for odd in ["../acme/metrics", "", "a/b", "metrics\u{1b}"] {
        assert!(world.registry.find(&id("other"), odd, Some("1.0.0")).await.unwrap().is_none(), "{odd}");
        assert!(world.registry.find(&id("other"), odd, None).await.unwrap().is_none(), "{odd}");
    }
}
