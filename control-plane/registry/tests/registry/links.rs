//! A store on disk, where somebody puts links and other files in the place of what was stored.

use std::fs;
use std::os::unix::fs::symlink;

use object_store::local::LocalFileSystem;

use super::*;

/// A tenant's registry over a folder, with one artifact in it.
async fn stored(folder: &std::path::Path) -> (World, Registry, Artifact) {
    let world = World::new().await;
    let store: Arc<dyn MetaStore> = Arc::new(MemoryStore::new());
    let blobs: Arc<dyn ObjectStore> = Arc::new(LocalFileSystem::new_with_prefix(folder).unwrap());
    let admission = Arc::clone(&world.admission) as Arc<dyn Admission>;
    let clock = Arc::clone(&world.clock) as Arc<dyn Clock>;
    let registry = Registry::new(store, blobs, admission, Arc::clone(&world.tenancy), clock);
    let bytes = component("a");
    let envelope = envelope(&key("acme"), "acme", "1.0.0", &bytes, DeclaredLimits::default());
    let by = caller("acme", Role::Developer);
    let artifact = registry.upload(&by, &id("acme"), bytes, envelope).await.unwrap();
    (world, registry, artifact)
}

#[tokio::test]
async fn a_link_in_the_place_of_an_image_leads_to_nothing_that_is_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let (world, registry, artifact) = stored(folder.path()).await;
    let image = folder.path().join(format!("tenants/acme/images/{}.image", artifact.digest));
    let evil = folder.path().join("evil");
    fs::write(&evil, "image of the attacker's").unwrap();
    for (at, target) in
        [evil.as_path(), std::path::Path::new("/nowhere"), std::path::Path::new("/dev/zero")].iter().enumerate()
    {
        fs::remove_file(&image).unwrap();
        symlink(target, &image).unwrap();
        let fetched = registry.fetch(&id("acme"), "metrics", None).await.unwrap();
        assert_eq!(fetched.image, world.admission.image(&artifact.digest).as_bytes());
        assert_eq!(world.admission.recompiled.load(Ordering::Relaxed), at + 1);
        // What is made anew replaces the link; what it led to stays as it was.
        assert!(!image.symlink_metadata().unwrap().is_symlink());
    }
    assert_eq!(fs::read_to_string(&evil).unwrap(), "image of the attacker's");
}

#[tokio::test]
async fn a_link_in_the_place_of_a_component_is_used_only_if_it_leads_to_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let (_world, registry, artifact) = stored(folder.path()).await;
    let path = folder.path().join(format!("tenants/acme/components/{}.wasm", artifact.digest));
    let other = folder.path().join("other");
    for (bytes, fine) in [(component("b"), false), (component("longer"), false), (component("a"), true)] {
        fs::write(&other, &bytes).unwrap();
        fs::remove_file(&path).unwrap();
        symlink(&other, &path).unwrap();
        let fetched = registry.fetch(&id("acme"), "metrics", None).await;
        assert_eq!(fetched.is_ok(), fine, "{fetched:?}");
    }
    fs::remove_file(&path).unwrap();
    symlink("/dev/zero", &path).unwrap();
    assert!(registry.fetch(&id("acme"), "metrics", None).await.is_err());
}
