//! Which processor this is: its name for people, and the slug that names the file of its bars.

use std::env::consts::ARCH;
use std::fs;

/// What people call it: the model's name, or the architecture where the system does not say.
pub(crate) fn name() -> String {
    field(&description(), "model name").map_or_else(|| ARCH.to_owned(), str::to_owned)
}

/// Vendor, family and model: `intel-6-143`; the architecture where the system does not say.
pub(crate) fn slug() -> String {
    slug_of(&description()).unwrap_or_else(|| ARCH.to_owned())
}

fn description() -> String {
    fs::read_to_string("/proc/cpuinfo").unwrap_or_default()
}

fn slug_of(description: &str) -> Option<String> {
    let [vendor, family, model] =
        ["vendor_id", "cpu family", "model"].map(|wanted| field(description, wanted));
    let vendor = match vendor? {
        "AuthenticAMD" => "amd".to_owned(),
        "GenuineIntel" => "intel".to_owned(),
        // It becomes a part of a file's name.
        other => {
            let plain = other.chars().filter(char::is_ascii_alphanumeric);
            plain.collect::<String>().to_ascii_lowercase()
        }
    };
    Some(format!("{vendor}-{}-{}", family?, model?))
}

/// The first value of a line `wanted : value`.
fn field<'t>(description: &'t str, wanted: &str) -> Option<&'t str> {
    let mut fields = description
        .lines()
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.trim(), value.trim()));
    fields
        .find(|&(name, value)| name == wanted && !value.is_empty())
        .map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::{field, slug_of};

    const INTEL: &str = "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\n\
                         model name\t: Intel(R) Xeon(R) Processor\nstepping\t: 8\n\n\
                         processor\t: 1\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 1\n";

    #[test]
    fn slugs_are_vendor_family_and_model() {
        let cases = [
            (INTEL, Some("intel-6-143")),
            (
                "vendor_id : AuthenticAMD\ncpu family : 25\nmodel : 17\n",
                Some("amd-25-17"),
            ),
            (
                "vendor_id :   Shanghai  \ncpu family : 7\nmodel : 59\n",
                Some("shanghai-7-59"),
            ),
            (
                "vendor_id : Geode by NSC\ncpu family : 5\nmodel : 4\n",
                Some("geodebynsc-5-4"),
            ),
            // As on Arm, and where there is no such file.
            ("processor : 0\nCPU implementer : 0x41\n", None),
            ("vendor_id : GenuineIntel\ncpu family : 6\n", None),
            ("", None),
        ];
        for (description, slug) in cases {
            assert_eq!(slug_of(description).as_deref(), slug, "{description}");
        }
    }

    #[test]
    fn the_name_is_not_the_model() {
        assert_eq!(
            field(INTEL, "model name"),
            Some("Intel(R) Xeon(R) Processor")
        );
        assert_eq!(field(INTEL, "model"), Some("143"));
        assert_eq!(field(INTEL, "Hardware"), None);
    }
}
