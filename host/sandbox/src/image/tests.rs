//! Sealed images: every changed byte, and every other engine, is refused.

use super::*;

fn key() -> ImageKey {
    ImageKey::new([7; 32])
}

fn stamp(engine: u8, limits: u8) -> Stamp {
    Stamp { engine: [engine; 32], limits: [limits; 32] }
}

fn sealed() -> (Vec<u8>, ComponentDigest) {
    let digest = ComponentDigest::of(b"component");
    (seal(&key(), &stamp(1, 2), digest, 9, b"the machine code"), digest)
}

#[test]
fn a_sealed_image_opens_with_its_key_component_and_stamp() {
    let (sealed, digest) = sealed();
    let Checked(image) = open(&key(), &stamp(1, 2), digest, 9, &sealed).unwrap();
    assert_eq!(image, b"the machine code");
}

#[test]
fn any_flipped_bit_is_refused() {
    let (sealed, digest) = sealed();
    for bit in 0..sealed.len() * 8 {
        let mut changed = sealed.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        let error = open(&key(), &stamp(1, 2), digest, 9, &changed).unwrap_err();
        let due = match bit / 8 {
            0..8 => ImageError::Format,
            112..120 => continue,
            _ => ImageError::Seal,
        };
        assert_eq!(error, due, "bit {bit}");
    }
}

#[test]
fn a_changed_length_is_refused() {
    let (sealed, digest) = sealed();
    for length in 0..sealed.len() {
        assert!(open(&key(), &stamp(1, 2), digest, 9, &sealed[..length]).is_err(), "{length} bytes");
    }
    let mut longer = sealed.clone();
    longer.push(0);
    assert_eq!(open(&key(), &stamp(1, 2), digest, 9, &longer).unwrap_err(), ImageError::Length { found: 17, said: 16 });
    // Also where the header is made to agree.
    longer[112] += 1;
    assert_eq!(open(&key(), &stamp(1, 2), digest, 9, &longer).unwrap_err(), ImageError::Seal);
}

#[test]
fn what_the_seal_holds_must_be_what_is_asked_for() {
    let (sealed, digest) = sealed();
    let other = ComponentDigest::of(b"another");
    let asked = |stamp: Stamp, digest, size| open(&key(), &stamp, digest, size, &sealed).unwrap_err();
    assert_eq!(asked(stamp(1, 2), other, 9), ImageError::OtherComponent { found: digest, asked: other });
    assert_eq!(asked(stamp(1, 2), digest, 8), ImageError::OtherComponent { found: digest, asked: digest });
    assert_eq!(asked(stamp(3, 2), digest, 9), ImageError::OtherEngine);
    assert_eq!(asked(stamp(1, 3), digest, 9), ImageError::OtherLimits);
    assert_eq!(open(&ImageKey::new([8; 32]), &stamp(1, 2), digest, 9, &sealed).unwrap_err(), ImageError::Seal);
}

#[test]
fn a_digest_is_read_as_it_is_written() {
    let digest = ComponentDigest::of(b"");
    let text = digest.to_string();
    assert_eq!(text, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    assert_eq!(text.parse(), Ok(digest));
    for wrong in ["", "e3", &text.to_uppercase(), &format!("{text}0"), &text.replace('e', "é"), &text.replace('e', "+")]
    {
        assert_eq!(wrong.parse::<ComponentDigest>(), Err(DigestError), "{wrong}");
    }
}

#[test]
fn a_key_is_not_printed() {
    assert_eq!(format!("{:?}", key()), "ImageKey(…)");
}

#[test]
fn a_compiler_of_images_has_the_stamp_of_its_sandbox() {
    let config = SandboxConfig { instances: 2, ..SandboxConfig::default() };
    let compiler = crate::ImageCompiler::new(&config).unwrap();
    assert_eq!(compiler.stamp(), crate::Sandbox::new(config).unwrap().stamp());
    let other = SandboxConfig { memories: 3, ..SandboxConfig::default() };
    assert_ne!(compiler.stamp(), crate::ImageCompiler::new(&other).unwrap().stamp());
}
