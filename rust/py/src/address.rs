//! Which addresses are closed, for Python.

use std::net::IpAddr;

use ethos_registry_core::address::closed_kind;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::call::checked;

/// `(kind, is_metadata)` of an address that requests from outside must not reach, as
/// `("loopback", False)`; `None` for an ordinary unicast address. `ValueError` if `address` is not
/// an IPv4 or IPv6 address in its usual spelling, without a zone.
#[pyfunction]
pub(crate) fn closed_address(address: &str) -> PyResult<Option<(&'static str, bool)>> {
    checked(|| {
        let parsed: IpAddr = address.parse().map_err(|_| {
            PyValueError::new_err(format!("not an IP address: {}", address.escape_debug()))
        })?;
        Ok(closed_kind(parsed).map(|closed| (closed.kind, closed.is_metadata)))
    })
}
