//! What is in the object store is worth nothing unchecked.

use super::*;

async fn stored(world: &World, text: &str) -> (Artifact, String, String) {
    let artifact = world.upload("acme", "1.0.0", &component(text)).await.unwrap();
    let path = |kind: &str, suffix: &str| format!("tenants/acme/{kind}/{}.{suffix}", artifact.digest);
    let (code, image) = (path("components", "wasm"), path("images", "image"));
    (artifact, code, image)
}

#[tokio::test]
async fn an_image_that_fits_is_taken_as_it_is() {
    let world = World::new().await;
    let (artifact, ..) = stored(&world, "a").await;
    let fetched = world.registry.fetch(&id("acme"), "metrics", Some("1.0.0")).await.unwrap();
    assert_eq!((fetched.artifact, fetched.component), (artifact, component("a")));
    assert_eq!(world.admission.recompiled.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn a_changed_missing_foreign_or_stale_image_is_compiled_again() {
    let world = World::new().await;
    let (artifact, _, image) = stored(&world, "a").await;
    let due = async |times: usize| {
        let fetched = world.registry.fetch(&id("acme"), "metrics", None).await.unwrap();
        let fits = world.admission.fits(ImageOf { digest: &artifact.digest, size: artifact.size }, &fetched.image);
        assert!(fits, "{times}");
        assert_eq!(world.admission.recompiled.load(Ordering::Relaxed), times);
    };
    world.overwrite(&image, "image of somebody else's").await;
    due(1).await;
    world.blobs.delete(&Path::from(image.as_str())).await.unwrap();
    due(2).await;
    let other = world.upload("other", "1.0.0", &component("b")).await.unwrap();
    let foreign = world.admission.image(&other.digest);
    world.overwrite(&image, &foreign).await;
    due(3).await;
    // What was made anew is kept.
    due(3).await;
    *world.admission.engine.lock().unwrap() = "of the next release".to_owned();
    due(4).await;
    due(4).await;
}

#[tokio::test]
async fn a_component_that_is_not_what_its_name_says_is_not_used() {
    let world = World::new().await;
    let (_, code, _) = stored(&world, "a").await;
    for changed in ["\0asm\r\0\u{1}\0b", "shorter", "longer than it was at any time"] {
        world.overwrite(&code, changed).await;
        let error = world.registry.fetch(&id("acme"), "metrics", None).await.unwrap_err();
        assert!(matches!(&error, RegistryError::Blobs { .. }), "{error}");
    }
    // The same bytes under another version repair the file.
    world.upload("acme", "1.1.0", &component("a")).await.unwrap();
    world.registry.fetch(&id("acme"), "metrics", Some("1.0.0")).await.unwrap();
}
