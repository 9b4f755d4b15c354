//! Row 24: a sealed image is loaded by the host that sealed it, for the component it was made of, whole; anything else is not.

use tidegate_admission::CompileLimits;
use tidegate_isolation::admit::{FUEL, MEMORY, admitter_to, candidate, key};
use tidegate_isolation::host::{fields, options, rows, sandbox, sandbox_with, values};
use tidegate_isolation::mapper::identity;
use tidegate_isolation::windower;
use tidegate_sandbox::{ComponentDigest, ImageError, ImageKey, Sandbox};
use tidegate_types::hooks::Call;

struct Sealed {
    digest: ComponentDigest,
    size: u64,
    image: Vec<u8>,
}

/// The image of a component, compiled in a child.
fn seal(sandbox: &Sandbox, component: &[u8]) -> Sealed {
    let admitter = admitter_to(sandbox, CompileLimits::default());
    let image = admitter.recompile(&candidate(component, FUEL, MEMORY)).expect("it compiles");
    Sealed { digest: ComponentDigest::of(component), size: component.len() as u64, image }
}

fn load(sandbox: &Sandbox, sealed: &Sealed, image: &[u8]) -> Result<(), ImageError> {
    let loaded = sandbox.load_image("guest", sealed.digest, sealed.size, image, &key());
    let checked = sandbox.check_image(&key(), sealed.digest, sealed.size, image);
    assert_eq!(checked.is_ok(), loaded.is_ok());
    loaded.map(|_| ())
}

#[test]
fn a_sealed_image_answers_as_its_component_does() {
    let sandbox = sandbox();
    let sealed = seal(&sandbox, &identity());
    let from_image = sandbox.load_image("guest", sealed.digest, sealed.size, &sealed.image, &key()).expect("it loads");
    let from_bytes = sandbox.load("guest", &identity()).expect("it loads");
    assert_eq!(from_image.id(), from_bytes.id());
    let answers = [from_image, from_bytes].map(|component| {
        let mut hook = component.open_mapper("null", &fields(), options()).expect("it opens");
        let answer = hook.process(Call::USUAL, &rows(0, 100)).expect("it answers");
        (values(&answer.value.columns), answer.fuel_used)
    });
    assert_eq!(answers[0], answers[1]);
}

#[test]
fn an_image_with_one_bit_flipped_is_refused() {
    let sandbox = sandbox();
    let sealed = seal(&sandbox, &identity());
    // Every bit of the head, and every 997th of the machine code.
    let bits = (0..200 * 8).chain((200 * 8..sealed.image.len() * 8).step_by(997));
    for bit in bits {
        let mut image = sealed.image.clone();
        image[bit / 8] ^= 1 << (bit % 8);
        let error = load(&sandbox, &sealed, &image).expect_err("a changed image");
        assert!(
            matches!(error, ImageError::Format | ImageError::Length { .. } | ImageError::Seal),
            "bit {bit}: {error}"
        );
    }
}

#[test]
fn a_shortened_a_lengthened_and_an_unsealed_image_are_refused() {
    let sandbox = sandbox();
    let sealed = seal(&sandbox, &identity());
    for length in [0, 7, 100, 151, 152, sealed.image.len() / 2, sealed.image.len() - 1] {
        assert!(load(&sandbox, &sealed, &sealed.image[..length]).is_err(), "{length} bytes");
    }
    assert!(matches!(load(&sandbox, &sealed, &[&sealed.image[..], b"x"].concat()), Err(ImageError::Length { .. })));
    // The machine code alone, as an attacker's own wasmtime would make it.
    assert_eq!(load(&sandbox, &sealed, &sealed.image[152..]), Err(ImageError::Format));
}

#[test]
fn another_components_image_is_refused() {
    let sandbox = sandbox();
    let (one, other) = (seal(&sandbox, &identity()), seal(&sandbox, &windower::ten_ms("")));
    let due = |asked: &Sealed, found: &Sealed| ImageError::OtherComponent { found: found.digest, asked: asked.digest };
    assert_eq!(load(&sandbox, &one, &other.image), Err(due(&one, &other)));
    assert_eq!(load(&sandbox, &other, &one.image), Err(due(&other, &one)));
    // A part of one with the head of the other.
    let mixed = [&one.image[..152], &other.image[152..]].concat();
    assert!(load(&sandbox, &one, &mixed).is_err());
}

#[test]
fn an_image_of_another_host_or_of_other_limits_is_refused() {
    let sandbox = sandbox();
    let sealed = seal(&sandbox, &identity());
    let stranger = ImageKey::new([1; 32]);
    let loaded = sandbox.load_image("guest", sealed.digest, sealed.size, &sealed.image, &stranger);
    assert_eq!(loaded.map(|_| ()), Err(ImageError::Seal));
    let stricter = sandbox_with(|config| config.memories = 2);
    assert_eq!(load(&stricter, &sealed, &sealed.image), Err(ImageError::OtherLimits));
}
