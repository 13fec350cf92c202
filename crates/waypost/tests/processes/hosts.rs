//! Hosts in network namespaces: a cable between each two of them, and one from each to this process. Needs root on Linux and
//! iproute2; `scripts/test` looks whether it can be had.

use std::{net::Ipv4Addr, process::Command};

/// One-way delay of each cable, where the kernel can do that.
const DELAY: &str = "3ms";

/// Taken down when dropped.
pub struct Hosts {
    /// What every name begins with: others may do the same on this machine.
    tag: String,
    names: Vec<&'static str>,
    /// The last but one byte of the addresses by which this process reaches them.
    subnet: u8,
    /// Why the cables have no delay, if they have none.
    pub no_delay: Option<String>,
}

fn run(program: &str, line: &str) -> Result<(), String> {
    let output = Command::new(program)
        .args(line.split_whitespace())
        .output()
        .map_err(|e| format!("{program}: {e}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!(
            "{program} {line}: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        )),
    }
}

fn ip(line: &str) {
    run("ip", line).unwrap();
}

impl Hosts {
    pub fn start(names: &[&'static str]) -> Self {
        let pid = std::process::id();
        let mut hosts = Self {
            tag: format!("wp{:x}", pid & 0xffff),
            names: vec![],
            subnet: u8::try_from(pid % 250).unwrap(),
            no_delay: None,
        };
        let tag = hosts.tag.clone();
        ip(&format!("link add {tag}br type bridge"));
        ip(&format!("addr add {}/24 dev {tag}br", hosts.here()));
        ip(&format!("link set {tag}br up"));
        for name in names {
            hosts.add(name);
        }
        for (i, one) in names.iter().enumerate() {
            for other in &names[i + 1..] {
                hosts.connect(one, other);
            }
        }
        hosts
    }

    fn add(&mut self, name: &'static str) {
        let (tag, space, n) = (self.tag.clone(), self.space(name), self.names.len());
        ip(&format!("netns add {space}"));
        self.names.push(name);
        ip(&format!("-n {space} link set lo up"));
        ip(&format!(
            "link add {tag}m{n} type veth peer name here netns {space}"
        ));
        ip(&format!("link set {tag}m{n} master {tag}br up"));
        ip(&format!(
            "-n {space} addr add {}/24 dev here",
            self.address_of(name)
        ));
        ip(&format!("-n {space} link set here up"));
    }

    fn connect(&mut self, one: &str, other: &str) {
        let spaces = [self.space(one), self.space(other)];
        ip(&format!(
            "link add to-{other} netns {} type veth peer name to-{one} netns {}",
            spaces[0], spaces[1]
        ));
        for (space, from, to) in [(&spaces[0], one, other), (&spaces[1], other, one)] {
            ip(&format!(
                "-n {space} addr add {}/30 dev to-{to}",
                self.address(from, to)
            ));
            ip(&format!("-n {space} link set to-{to} up"));
            let delayed = format!("netns exec {space} tc qdisc add dev to-{to} root netem delay {DELAY}");
            if let Err(why) = run("ip", &delayed) {
                self.no_delay = Some(why);
            }
        }
    }

    fn space(&self, name: &str) -> String {
        format!("{}-{name}", self.tag)
    }

    fn place(&self, name: &str) -> u8 {
        let found = self.names.iter().position(|known| *known == name);
        u8::try_from(found.unwrap()).unwrap()
    }

    /// What a process of this host is started with.
    pub fn inside(&self, name: &str) -> Vec<String> {
        let words = ["ip", "netns", "exec"].map(str::to_owned);
        words.into_iter().chain([self.space(name)]).collect()
    }

    /// Where the hosts reach this process.
    pub fn here(&self) -> Ipv4Addr {
        Ipv4Addr::new(198, 18, self.subnet, 1)
    }

    /// Where this process reaches a host.
    pub fn address_of(&self, name: &str) -> Ipv4Addr {
        Ipv4Addr::new(198, 18, self.subnet, self.place(name) + 2)
    }

    /// Where `other` reaches `one`, over the cable between them.
    pub fn address(&self, one: &str, other: &str) -> Ipv4Addr {
        let (here, there) = (self.place(one), self.place(other));
        let cable = here.min(there) * 16 + here.max(there);
        Ipv4Addr::new(198, 19, cable, 1 + u8::from(here > there))
    }

    /// Takes the cable between two of them out, at the end of the first: that one is told, the other hears nothing any more.
    pub fn cut(&self, one: &str, other: &str) {
        ip(&format!("-n {} link set to-{other} down", self.space(one)));
    }

    pub fn heal(&self, one: &str, other: &str) {
        ip(&format!("-n {} link set to-{other} up", self.space(one)));
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        for name in &self.names {
            let _ = run("ip", &format!("netns del {}", self.space(name)));
        }
        let _ = run("ip", &format!("link del {}br", self.tag));
    }
}
