//! From old formats of the project file to the newest, one step after the other.

use serde_json::Value;

/// The format that is written.
pub(super) const NEWEST: u64 = 1;

/// Turns a file of one format into the next.
type Step = fn(Value) -> Result<Value, String>;

/// `STEPS[n]` leads from format `n + 1` to format `n + 2`.
const STEPS: &[Step] = &[];

/// Brings `file` from format `version` (1 to [`NEWEST`]) to the newest.
///
/// # Errors
/// What in it cannot be understood.
pub(super) fn migrate(file: Value, version: u64) -> Result<Value, String> {
    walk(file, version, STEPS)
}

fn walk(file: Value, version: u64, steps: &[Step]) -> Result<Value, String> {
    let from =
        usize::try_from(version).ok().and_then(|v| v.checked_sub(1)).ok_or("it has no format number")?;
    steps.iter().skip(from).try_fold(file, |file, step| step(file))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_format_has_a_way_to_the_newest() {
        assert_eq!(STEPS.len() as u64 + 1, NEWEST);
    }

    #[test]
    fn steps_are_taken_from_the_file_s_format_on() {
        let steps: [Step; 2] = [
            |mut file| {
                file["masklet"] = json!(2);
                file["second"] = json!(true);
                Ok(file)
            },
            |mut file| {
                file["masklet"] = json!(3);
                Ok(file)
            },
        ];
        assert_eq!(walk(json!({"masklet": 1}), 1, &steps), Ok(json!({"masklet": 3, "second": true})));
        assert_eq!(walk(json!({"masklet": 2}), 2, &steps), Ok(json!({"masklet": 3})));
        assert_eq!(walk(json!({"masklet": 3}), 3, &steps), Ok(json!({"masklet": 3})));
        assert!(walk(json!({}), 0, &steps).is_err());
    }
}
