//! Signing in through an identity provider.
use super::failure::{Result, Trouble};
use crate::problem::Problem;
#[derive(Debug)]
pub struct Oidc;
pub async fn start() -> Result {
    Err(Trouble(Problem::not_found("page")))
}
pub async fn back() -> Result {
    Err(Trouble(Problem::not_found("page")))
}
