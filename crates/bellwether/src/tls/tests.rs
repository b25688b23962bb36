use std::fs;
use std::time::{Duration, SystemTime};

use bellwether_proto::ident::NodeId;
use tempfile::TempDir;

use super::*;

fn authority() -> Authority {
    Authority::create("flock", Validity::days(10)).unwrap()
}

fn leaf(identity: &Identity) -> CertificateDer<'static> {
    certificates(&identity.cert, "").unwrap().remove(0)
}

#[test]
fn a_certificate_proves_one_id_in_one_cluster() {
    let cert = leaf(&authority().issue(NodeId(3), Validity::days(10)).unwrap());
    verify_id(&cert, "flock", NodeId(3)).unwrap();
    assert_eq!((id_in(&cert, "flock"), id_in(&cert, "herd")), (Some(NodeId(3)), None));
    for (cluster, id) in [("flock", 33), ("flock", 1), ("herd", 3)] {
        let error = verify_id(&cert, cluster, NodeId(id)).unwrap_err();
        assert!(matches!(error, TlsError::NotOurs { .. }), "{cluster} {id}: {error}");
    }
    assert!(verify_id(&CertificateDer::from(vec![0x30, 0x00]), "flock", NodeId(3)).is_err());
}

#[test]
fn a_wildcard_proves_no_id() {
    let (cluster, node) = ("flock.bellwether.internal", "node-3.flock.bellwether.internal");
    let (any_cluster, any_node) = ("*.bellwether.internal", "*.flock.bellwether.internal");
    let cases = [
        (vec![cluster, any_node], Some(node)),
        (vec![any_cluster, node], Some(cluster)),
        (vec![any_cluster, any_node], Some(cluster)),
        (vec![cluster, node, any_node], None),
    ];
    for (names, missing) in cases {
        let identity = authority().issue_for(&names, Validity::days(1));
        match (verify_id(&leaf(&identity), "flock", NodeId(3)), missing) {
            (Ok(()), None) => {}
            (Err(TlsError::Wildcard { name }), Some(missing)) => assert_eq!(name, missing),
            (found, _) => panic!("{names:?}: {found:?}"),
        }
        // Nor for any other id, beside its own.
        assert!(verify_id(&leaf(&identity), "flock", NodeId(4)).is_err(), "{names:?}");
    }
    let identity = authority().issue_for(&[cluster, any_node], Validity::days(1));
    let error = TlsConfigs::new(&identity, "flock", NodeId(3)).unwrap_err().to_string();
    assert!(error.contains("wildcard") && error.contains(node), "{error}");
}

#[test]
fn a_member_is_told_what_its_peers_will_say() {
    let authority = authority();
    let good = authority.issue(NodeId(3), Validity::days(10)).unwrap();
    assert_eq!(TlsConfigs::new(&good, "flock", NodeId(3)).unwrap().trouble, None);
    let error = TlsConfigs::new(&good, "flock", NodeId(2)).unwrap_err();
    assert!(error.to_string().contains("node-2.flock.bellwether.internal"), "{error}");

    let day = Duration::from_secs(86_400);
    let past = Validity { from: SystemTime::now() - 2 * day, until: SystemTime::now() - day };
    let expired = authority.issue(NodeId(3), past).unwrap();
    let trouble = TlsConfigs::new(&expired, "flock", NodeId(3)).unwrap().trouble;
    assert!(trouble.as_deref().is_some_and(|text| text.contains("Expired")), "{trouble:?}");

    let stranger = Identity { ca: self::authority().cert_pem().to_owned(), ..good };
    let trouble = TlsConfigs::new(&stranger, "flock", NodeId(3)).unwrap().trouble;
    assert!(trouble.is_some_and(|text| text.starts_with("the authority did not issue it (")));
    let posed = authority.impostor().issue(NodeId(3), Validity::days(1)).unwrap();
    let trouble = TlsConfigs::new(&posed, "flock", NodeId(3)).unwrap().trouble;
    assert!(trouble.is_some_and(|text| text.contains("one of the same name")));
}

#[test]
fn an_authority_goes_on_from_its_files() {
    let first = authority();
    let again = Authority::from_pem("flock", first.cert_pem(), &first.key_pem()).unwrap();
    let identity = again.issue(NodeId(7), Validity::days(1)).unwrap();
    assert_eq!(identity.ca, first.cert_pem());
    assert_eq!(TlsConfigs::new(&identity, "flock", NodeId(7)).unwrap().trouble, None);
}

#[test]
fn a_successor_is_trusted_beside_the_authority_before() {
    let first = authority();
    let next = first.successor(Validity::days(10)).unwrap();
    assert!(next.succeeds_another() && !first.succeeds_another());
    let again = Authority::from_pem("flock", next.cert_pem(), &next.key_pem()).unwrap();
    assert_eq!((again.own_pem(), again.succeeds_another()), (next.own_pem(), true));
    let old = Authority::from_pem("flock", next.cert_pem(), &first.key_pem()).unwrap();
    assert!(!old.succeeds_another(), "it is the one that is succeeded");
    for by in [&first, &again] {
        let identity = by.issue(NodeId(1), Validity::days(1)).unwrap();
        let both = Identity { ca: next.cert_pem().to_owned(), ..identity.clone() };
        both.good_until("flock", NodeId(1)).unwrap();
        let alone = Identity { ca: next.own_pem().to_owned(), ..identity };
        assert_eq!(alone.good_until("flock", NodeId(1)).is_ok(), by.own_pem() == next.own_pem());
    }
}

#[test]
fn a_list_of_one_authority_says_nothing_of_what_another_issued() {
    let first = authority();
    let next = first.successor(Validity::days(10)).unwrap();
    let (theirs, ours) = (
        first.issue(NodeId(1), Validity::days(1)).unwrap(),
        next.issue(NodeId(1), Validity::days(1)).unwrap(),
    );
    let list = next.revoke(None, &[&ours.cert]).unwrap();
    let check = |cert: &str| Certificate::check(cert, next.cert_pem(), Some(&list), "flock", NodeId(1));
    check(&theirs.cert).unwrap();
    assert!(check(&ours.cert).unwrap_err().to_string().contains("revoked"));
    assert!(next.has_revoked(&list, &ours.cert).unwrap() && !next.has_revoked(&list, &theirs.cert).unwrap());
    let renewed = next.renew(NodeId(1), &ours.cert, Validity::days(2)).unwrap();
    check(&renewed).unwrap();
    assert!(next.revoke(Some(&list), &[&theirs.cert]).is_err(), "it is not its own");
    assert!(next.revoke(Some("nothing"), &[]).is_err());
    let more = next.revoke(Some(&list), &[&renewed, &ours.cert]).unwrap();
    assert!([&ours.cert, &renewed].into_iter().all(|cert| next.has_revoked(&more, cert).unwrap()));
}

#[test]
fn what_one_authority_has_revoked_stays_so_when_another_revokes() {
    let first = authority();
    let next = first.successor(Validity::days(10)).unwrap();
    let cert = |by: &Authority, id| by.issue(NodeId(id), Validity::days(1)).unwrap().cert;
    let (old, older, new) = (cert(&first, 1), cert(&first, 2), cert(&next, 3));
    let is_refused = |list: &str, cert: &str, id| {
        let checked = Certificate::check(cert, next.cert_pem(), Some(list), "flock", NodeId(id));
        assert_eq!(checked.is_err(), next.has_revoked(list, cert).unwrap());
        checked.is_err_and(|error| error.to_string().contains("revoked"))
    };
    let all_refused =
        |list: &str| [is_refused(list, &old, 1), is_refused(list, &older, 2), is_refused(list, &new, 3)];
    let begun = first.revoke(None, &[&old]).unwrap();
    assert_eq!(all_refused(&begun), [true, false, false]);
    // As another tool may write it.
    let both = next.revoke(Some(begun.replace('\n', "\r\n").trim_end()), &[&new]).unwrap();
    assert_eq!(all_refused(&both), [true, false, true]);
    // It can be the turn of the one before again, and of neither is anything lost or doubled.
    let all = first.revoke(Some(&both), &[&older]).unwrap();
    let again = next.revoke(Some(&all), &[&new]).unwrap();
    assert_eq!((all_refused(&all), all_refused(&again)), ([true; 3], [true; 3]));
    assert_eq!([&begun, &both, &all, &again].map(|list| list.matches("BEGIN").count()), [1, 2, 2, 2]);
}

#[test]
fn an_authority_that_is_not_the_clusters_is_refused() {
    let (first, second) = (authority(), authority());
    let cases = [
        ("flock", first.cert_pem(), second.key_pem()),
        ("herd", first.cert_pem(), first.key_pem()),
        ("Flock", first.cert_pem(), first.key_pem()),
        ("flock", "", first.key_pem()),
        ("flock", first.cert_pem(), String::new()),
    ];
    for (cluster, cert, key) in cases {
        assert!(Authority::from_pem(cluster, cert, &key).is_err());
    }
}

#[test]
fn a_name_is_read_only_as_it_is_written() {
    let id = |name: &str| names::id_in_dns_name("flock", name);
    assert_eq!(id("node-3.flock.bellwether.internal"), Some(NodeId(3)));
    let others = ["node-03.flock", "node-+3.flock", "node-.flock", "node-3.herd", "3.flock", "flock"];
    for name in others {
        assert_eq!(id(&format!("{name}.bellwether.internal")), None, "{name}");
    }
}

#[test]
fn names_that_fit_into_certificates_are_allowed() {
    for name in ["a", "flock", "7", "a--b", "eu-west-1", &"x".repeat(40)] {
        check_cluster_name(name).unwrap();
        Authority::create(name, Validity::days(1))
            .unwrap()
            .issue(NodeId(u32::MAX), Validity::days(1))
            .unwrap();
    }
    for name in ["", "-", "a-", "-a", "A", "a.b", "a b", "ä", "a_b", &"x".repeat(41)] {
        let error = check_cluster_name(name).unwrap_err();
        assert!(error.to_string().contains(&format!("{name:?}")), "{error}");
        assert!(Authority::create(name, Validity::days(1)).is_err());
    }
}

struct Files {
    dir: TempDir,
}

impl Files {
    fn of(identity: &Identity) -> Self {
        let files = Self { dir: TempDir::new().unwrap() };
        for (name, text) in [("ca", &identity.ca), ("cert", &identity.cert), ("key", &identity.key)] {
            files.write(name, text);
        }
        files
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.dir.path().join(name), text).unwrap();
    }

    fn load(&self) -> Result<Identity, TlsError> {
        let path = |name| self.dir.path().join(name);
        Identity::load(&path("ca"), &path("cert"), &path("key"))
    }
}

#[test]
fn files_that_fit_together_are_loaded() {
    let identity = authority().issue(NodeId(1), Validity::days(1)).unwrap();
    let loaded = Files::of(&identity).load().unwrap();
    assert_eq!((loaded.ca, loaded.cert, loaded.key), (identity.ca, identity.cert, identity.key));
}

#[test]
fn a_file_that_is_wrong_is_named() {
    let authority = authority();
    let identity = authority.issue(NodeId(1), Validity::days(1)).unwrap();
    let other = authority.issue(NodeId(1), Validity::days(1)).unwrap();
    let broken = "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n";
    let cut = &identity.cert[..identity.cert.len() / 2];
    let cases = [
        ("ca", "nothing", "no certificate"),
        ("ca", broken, "cannot be used"),
        ("cert", "", "no certificate"),
        ("cert", cut, "no certificate"),
        ("cert", broken, "cannot be used"),
        ("key", &identity.cert, "no private key"),
        ("key", &other.key, "does not belong"),
    ];
    for (name, text, words) in cases {
        let files = Files::of(&identity);
        files.write(name, text);
        let error = files.load().unwrap_err().to_string();
        let path = files.dir.path().join(name).display().to_string();
        assert!(error.to_string().contains(words) && error.contains(&path), "{name}: {error}");
    }
    let files = Files::of(&identity);
    files.write("ca", &" ".repeat(2 << 20));
    let error = files.load().unwrap_err();
    assert!(matches!(&error, TlsError::Read { path, .. } if path.ends_with("ca")), "{error}");
    let files = Files::of(&identity);
    fs::remove_file(files.dir.path().join("key")).unwrap();
    let error = files.load().unwrap_err();
    assert!(matches!(&error, TlsError::Read { path, .. } if path.ends_with("key")), "{error}");
}

#[test]
fn a_key_is_not_shown() {
    let identity = authority().issue(NodeId(1), Validity::days(1)).unwrap();
    assert_eq!(format!("{identity:?}"), "Identity");
    assert!(!format!("{:?}", authority()).contains("KEY"));
}
