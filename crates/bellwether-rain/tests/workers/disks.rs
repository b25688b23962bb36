//! Disks that take nothing any more: whoever has one holds no shards, and nobody up.

use bellwether_rain::report::Report;

use crate::crew::Crew;

fn cannot_write(report: &Report) -> bool {
    matches!(report, Report::Disk { trouble: Some(_) })
}

#[tokio::test]
async fn a_disk_that_fails_holds_nobody_up_and_is_told_of_once() {
    // Each has more rows to do than may be late.
    let mut crew = Crew::start(3, 2, (256, 96)).await;
    crew.break_disk(3);
    crew.view(1, &[1, 2, 3], &[], &[]).await;
    crew.wait_until_safe(4 * 3 * 32).await;
    assert_eq!(crew.count(|node, report| node == 3 && cannot_write(report)), 1);
    assert_eq!(crew.count(|node, report| node != 3 && cannot_write(report)), 0);
    assert_eq!(crew.recomputed(), 0);
    assert_eq!(crew.collect().await.unwrap().png(), crew.expected().png());
}

#[tokio::test]
async fn a_recovery_goes_on_without_a_member_that_cannot_keep_its_shards() {
    let mut crew = Crew::start(5, 3, (256, 64)).await;
    crew.view(1, &[1, 2, 3, 4, 5], &[], &[]).await;
    crew.wait_until_safe(40).await;
    crew.break_disk(4);
    crew.wait_for(|node, report| node == 4 && cannot_write(report)).await;
    crew.wait_until_safe(80).await;
    crew.kill(1);
    crew.view(2, &[2, 3, 4, 5], &[1], &[]).await;
    // The one that cannot write may lead as well.
    crew.kill(2);
    crew.revive(1).await;
    crew.view(3, &[4, 1, 3, 5], &[2], &[1]).await;
    assert_eq!(crew.recovered(3).lost, 0);
    crew.wait_until_safe(4 * 2 * 32).await;
    assert_eq!(crew.collect().await.unwrap().png(), crew.expected().png());
}

#[tokio::test]
async fn with_too_few_disks_no_row_is_safe_and_all_are_when_one_is_mended() {
    let mut crew = Crew::start(3, 2, (64, 32)).await;
    crew.break_disk(2);
    crew.break_disk(3);
    crew.view(1, &[1, 2, 3], &[], &[]).await;
    for broken in [2, 3] {
        crew.wait_for(|node, report| node == broken && cannot_write(report)).await;
    }
    assert_eq!(crew.count(|_, report| matches!(report, Report::Safe { .. })), 0);
    crew.mend_disk(2);
    crew.wait_until_safe(32).await;
    crew.wait_for(|node, report| node == 2 && *report == Report::Disk { trouble: None }).await;
    assert_eq!(crew.recomputed(), 0, "the row stayed in its hands");
}
