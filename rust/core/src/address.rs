//! Addresses that requests of tools must not reach.
//!
//! The blocks are those of the IANA special-purpose registries
//! (<https://www.iana.org/assignments/iana-ipv4-special-registry>,
//! <https://www.iana.org/assignments/iana-ipv6-special-registry>), including those marked "globally
//! reachable": an address is open only if it is ordinary unicast. An IPv6 address that contains an
//! IPv4 address is checked for that one too.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Why an address is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closed {
    /// The kind of block, for example `loopback`.
    pub kind: &'static str,
    /// Whether it serves a cloud's credentials: closed even where private addresses are open.
    pub is_metadata: bool,
}

/// Why requests must not reach `address`; `None` for ordinary unicast addresses.
#[must_use]
pub fn closed_kind(address: IpAddr) -> Option<Closed> {
    match address {
        IpAddr::V4(address) => closed_kind_v4(address),
        IpAddr::V6(address) => closed_kind_v6(address),
    }
}

const METADATA_V4: &[Ipv4Addr] = &[
    Ipv4Addr::new(169, 254, 169, 254), // AWS, Azure, Google, DigitalOcean, OpenStack
    Ipv4Addr::new(169, 254, 170, 2),   // AWS container credentials
    Ipv4Addr::new(169, 254, 170, 23),  // AWS pod identity
    Ipv4Addr::new(100, 100, 100, 200), // Alibaba
    Ipv4Addr::new(168, 63, 129, 16),   // Azure
    Ipv4Addr::new(192, 0, 0, 192),     // Oracle
];

const METADATA_V6: &[Ipv6Addr] = &[
    Ipv6Addr::new(0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x254), // AWS
    Ipv6Addr::new(0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x23),  // AWS pod identity
    Ipv6Addr::new(0xfd20, 0x00ce, 0, 0, 0, 0, 0, 0x254), // Google
];

/// Address, prefix length, kind.
const BLOCKS_V4: &[([u8; 4], u32, &str)] = &[
    ([0, 0, 0, 0], 8, "this network"),
    ([10, 0, 0, 0], 8, "private"),
    ([100, 64, 0, 0], 10, "shared (carrier NAT)"),
    ([127, 0, 0, 0], 8, "loopback"),
    ([169, 254, 0, 0], 16, "link-local"),
    ([172, 16, 0, 0], 12, "private"),
    ([192, 0, 0, 0], 24, "protocol assignments"),
    ([192, 0, 2, 0], 24, "documentation"),
    ([192, 31, 196, 0], 24, "AS112"),
    ([192, 52, 193, 0], 24, "AMT"),
    ([192, 88, 99, 0], 24, "6to4 relay"),
    ([192, 168, 0, 0], 16, "private"),
    ([192, 175, 48, 0], 24, "AS112"),
    ([198, 18, 0, 0], 15, "benchmark"),
    ([198, 51, 100, 0], 24, "documentation"),
    ([203, 0, 113, 0], 24, "documentation"),
    ([224, 0, 0, 0], 4, "multicast"),
    ([240, 0, 0, 0], 4, "reserved"),
];

/// Address, prefix length, kind.
const BLOCKS_V6: &[([u16; 8], u32, &str)] = &[
    ([0, 0, 0, 0, 0, 0, 0, 1], 128, "loopback"),
    ([0, 0, 0, 0, 0, 0, 0, 0], 128, "unspecified"),
    ([0, 0, 0, 0, 0, 0xffff, 0, 0], 96, "IPv4-mapped"),
    ([0, 0, 0, 0, 0xffff, 0, 0, 0], 96, "IPv4-translated"),
    ([0, 0, 0, 0, 0, 0, 0, 0], 96, "IPv4-compatible"),
    ([0x64, 0xff9b, 0, 0, 0, 0, 0, 0], 96, "NAT64"),
    ([0x64, 0xff9b, 1, 0, 0, 0, 0, 0], 48, "local NAT64"),
    ([0x100, 0, 0, 0, 0, 0, 0, 0], 64, "discard"),
    ([0x2001, 0, 0, 0, 0, 0, 0, 0], 32, "Teredo"),
    ([0x2001, 0, 0, 0, 0, 0, 0, 0], 23, "protocol assignments"),
    ([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32, "documentation"),
    ([0x2002, 0, 0, 0, 0, 0, 0, 0], 16, "6to4"),
    ([0x2620, 0x4f, 0x8000, 0, 0, 0, 0, 0], 48, "AS112"),
    ([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20, "documentation"),
    ([0x5f00, 0, 0, 0, 0, 0, 0, 0], 16, "segment routing"),
    ([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7, "unique local"),
    ([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10, "link-local"),
    ([0xfec0, 0, 0, 0, 0, 0, 0, 0], 10, "site-local"),
    ([0xff00, 0, 0, 0, 0, 0, 0, 0], 8, "multicast"),
];

fn closed_kind_v4(address: Ipv4Addr) -> Option<Closed> {
    if METADATA_V4.contains(&address) {
        return Some(Closed {
            kind: "cloud metadata",
            is_metadata: true,
        });
    }
    let bits = address.to_bits();
    let holds = |(block, length, _): &&([u8; 4], u32, &str)| {
        (bits ^ u32::from_be_bytes(*block)).leading_zeros() >= *length
    };
    BLOCKS_V4.iter().find(holds).map(|(_, _, kind)| Closed {
        kind,
        is_metadata: false,
    })
}

fn closed_kind_v6(address: Ipv6Addr) -> Option<Closed> {
    let is_metadata = METADATA_V6.contains(&address)
        || carried(address)
            .into_iter()
            .flatten()
            .any(|inner| closed_kind_v4(inner).is_some_and(|closed| closed.is_metadata));
    if is_metadata {
        return Some(Closed {
            kind: "cloud metadata",
            is_metadata,
        });
    }
    let bits = address.to_bits();
    let holds = |(block, length, _): &&([u16; 8], u32, &str)| {
        (bits ^ Ipv6Addr::from(*block).to_bits()).leading_zeros() >= *length
    };
    if let Some((_, _, kind)) = BLOCKS_V6.iter().find(holds) {
        return Some(Closed { kind, is_metadata });
    }
    // Only 2000::/3 is assigned for ordinary unicast.
    let is_unicast = address
        .segments()
        .first()
        .is_some_and(|first| first >> 13 == 1);
    (!is_unicast).then_some(Closed {
        kind: "reserved",
        is_metadata,
    })
}

/// The IPv4 addresses that an IPv6 address may contain.
fn carried(address: Ipv6Addr) -> [Option<Ipv4Addr>; 3] {
    let [first, second, third, fourth, .., seventh, last] = address.segments();
    let joined = |high: u16, low: u16| Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low));
    let at_end = joined(seventh, last);
    match first {
        0x2002 => [Some(joined(second, third)), None, None],
        // A Teredo address contains its server, and its client with all bits inverted.
        0x2001 if second == 0 => [
            Some(joined(third, fourth)),
            Some(joined(!seventh, !last)),
            None,
        ],
        0 | 0x64 => [Some(at_end), embedded_48(address), None],
        // Interface identifiers of ISATAP (RFC 5214).
        _ => [isatap(address).then_some(at_end), None, None],
    }
}

/// The address in a /48 translation prefix: bits 48 to 63 and 72 to 87 (RFC 6052).
fn embedded_48(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let octets = address.octets();
    let [_, _, _, _, _, _, one, two, _, three, four, ..] = octets;
    address
        .segments()
        .starts_with(&[0x64, 0xff9b, 1])
        .then(|| Ipv4Addr::new(one, two, three, four))
}

fn isatap(address: Ipv6Addr) -> bool {
    let [.., fifth, sixth, _, _] = address.segments();
    (fifth == 0 || fifth == 0x200) && sixth == 0x5efe
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use super::closed_kind;

    fn kind(text: &str) -> Option<&'static str> {
        closed_kind(text.parse().unwrap()).map(|closed| closed.kind)
    }

    #[test]
    fn ordinary_addresses_are_open() {
        for text in [
            "8.8.8.8",
            "1.1.1.1",
            "172.32.0.1",
            "100.128.0.1",
            "198.20.0.1",
            "2606:4700::1111",
            "2a00:1450::1",
        ] {
            assert_eq!(kind(text), None, "{text}");
        }
    }

    #[test]
    fn every_special_block_is_closed() {
        for text in [
            "0.0.0.0",
            "10.1.2.3",
            "100.64.0.1",
            "127.0.0.1",
            "127.255.255.255",
            "169.254.1.1",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.1",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.0.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::127.0.0.1",
            "::ffff:8.8.8.8",
            "::ffff:0:1.2.3.4",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "100::1",
            "2001::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "3fff::1",
            "fc00::1",
            "fd00::1",
            "fe80::1",
            "febf::1",
            "fec0::1",
            "ff02::1",
            "4000::1",
            "5f00::1",
        ] {
            assert!(kind(text).is_some(), "{text}");
        }
    }

    #[test]
    fn metadata_is_found_in_every_form() {
        for text in [
            "169.254.169.254",
            "169.254.170.2",
            "100.100.100.200",
            "168.63.129.16",
            "192.0.0.192",
            "::ffff:169.254.169.254",
            "::169.254.169.254",
            "64:ff9b::a9fe:a9fe",
            "2002:a9fe:a9fe::1",
            "2001:0:a9fe:a9fe::1",
            "2001:0:1:1:0:0:5601:5601",
            "64:ff9b:1:a9fe:a9:fe00::",
            "fd00:ec2::254",
            "2606:4700::5efe:a9fe:a9fe",
        ] {
            let closed = closed_kind(text.parse().unwrap());
            assert!(closed.is_some_and(|closed| closed.is_metadata), "{text}");
        }
        assert!(
            !closed_kind("127.0.0.1".parse().unwrap())
                .unwrap()
                .is_metadata
        );
    }
}
