//! Which device is to compute.

use std::fmt;
use std::str::FromStr;

/// A kind of device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeviceFamily {
    /// NVIDIA's.
    Cuda,
    /// Any with a Vulkan driver.
    Vulkan,
    /// Apple's.
    Metal,
    /// The processor.
    Cpu,
}

impl DeviceFamily {
    /// All of them, best first.
    pub const CHAIN: [Self; 4] = if cfg!(target_os = "macos") {
        [Self::Metal, Self::Cuda, Self::Vulkan, Self::Cpu]
    } else {
        [Self::Cuda, Self::Vulkan, Self::Metal, Self::Cpu]
    };

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cuda => "CUDA",
            Self::Vulkan => "Vulkan",
            Self::Metal => "Metal",
            Self::Cpu => "CPU",
        }
    }
}

impl fmt::Display for DeviceFamily {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a person wants to compute with. Where that cannot be, the next device of the chain does it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeviceChoice {
    /// The best that works.
    #[default]
    Auto,
    /// A kind of device, and which of several (from 0).
    Only(DeviceFamily, Option<usize>),
}

impl DeviceChoice {
    /// The processor.
    pub const CPU: Self = Self::Only(DeviceFamily::Cpu, None);

    /// The kinds of devices to try, in turn.
    pub fn families(self) -> Vec<DeviceFamily> {
        let mut chain = DeviceFamily::CHAIN.to_vec();
        if let Self::Only(family, _) = self {
            chain.retain(|&other| other != family);
            chain.insert(0, family);
            // Who asks for the processor does not want a graphics card in its place.
            if family == DeviceFamily::Cpu {
                chain.truncate(1);
            }
        }
        chain
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Only(family, None) => f.write_str(&family.name().to_lowercase()),
            Self::Only(family, Some(index)) => write!(f, "{}:{index}", family.name().to_lowercase()),
        }
    }
}

impl FromStr for DeviceChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || format!("\"{text}\" is no device: auto, cpu, cuda, cuda:1, vulkan, vulkan:1 or metal");
        let lower = text.to_lowercase();
        if lower == "auto" {
            return Ok(Self::Auto);
        }
        let (name, index) = match lower.split_once(':') {
            Some((name, index)) => (name, Some(index.parse().map_err(|_| wrong())?)),
            None => (lower.as_str(), None),
        };
        let family = DeviceFamily::CHAIN.into_iter().find(|family| family.name().eq_ignore_ascii_case(name));
        match (family.ok_or_else(wrong)?, index) {
            (DeviceFamily::Cpu | DeviceFamily::Metal, Some(_)) => Err(wrong()),
            (family, index) => Ok(Self::Only(family, index)),
        }
    }
}

/// How memories get to tracked frames. The results are the same to the last bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// From the program's memory, for every frame anew.
    Host,
    /// They stay on the device; only their numbers go there.
    Device,
}

impl FromStr for Transport {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "host" => Ok(Self::Host),
            "device" => Ok(Self::Device),
            _ => Err("choose host or device".into()),
        }
    }
}

/// Where pictures are brought to the network's size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preprocess {
    /// On the processor, bit for bit as the reference does it.
    Cpu,
    /// On the device. A pixel in many thousands is a step of 1/255 off.
    Device,
    /// On both, which must agree.
    Verify,
}

impl FromStr for Preprocess {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "cpu" => Ok(Self::Cpu),
            "device" => Ok(Self::Device),
            "verify" => Ok(Self::Verify),
            _ => Err("choose cpu, device or verify".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_read_as_they_are_written() {
        for text in ["auto", "cpu", "cuda", "cuda:1", "vulkan", "vulkan:0", "metal"] {
            assert_eq!(text.parse::<DeviceChoice>().map(|choice| choice.to_string()), Ok(text.to_owned()));
        }
        for text in ["", "gpu", "cuda:", "cuda:x", "cuda:-1", "cpu:1", "metal:0"] {
            assert!(text.parse::<DeviceChoice>().is_err(), "{text}");
        }
    }

    #[test]
    fn what_was_asked_for_is_tried_first() {
        let vulkan = DeviceChoice::Only(DeviceFamily::Vulkan, None).families();
        assert_eq!((vulkan[0], vulkan.len()), (DeviceFamily::Vulkan, 4));
        assert_eq!(DeviceChoice::CPU.families(), [DeviceFamily::Cpu]);
        assert_eq!(DeviceChoice::Auto.families().last(), Some(&DeviceFamily::Cpu));
    }
}
