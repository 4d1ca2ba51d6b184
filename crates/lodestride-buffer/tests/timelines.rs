//! Timelines: what is recorded, in which order, and that both forms are whole.
#![expect(clippy::too_many_lines, reason = "tables of cases")]

use lodestride_buffer::*;

#[test]
fn every_event_is_there_in_order() {
    let workspace = Workspace::new("RECORDED <&>");
    assert!(workspace.timeline().events.is_empty());
    workspace.scope(|_| ()).unwrap();
    workspace.record_timeline(100);
    let kept = workspace.scope(|_| Buffer::zeroed(1000).unwrap()).unwrap();
    assert!(kept.read().is_err());
    note_stale_use(std::panic::Location::caller());
    workspace
        .scope(|_| {
            let array = Buffer::zeroed(100).unwrap();
            assert!(array.read().is_ok() && kept.read().is_err());
        })
        .unwrap();
    let timeline = workspace.timeline();
    let found: Vec<(u64, String)> = timeline
        .events
        .iter()
        .map(|event| {
            let text = event.kind.to_string();
            let text = text.split(" of an array").next().unwrap_or_default();
            (event.generation, text.to_owned())
        })
        .collect();
    let expected = [
        (2, "opened"),
        (2, "spilled 1000 bytes"),
        (2, "closed after 1024 bytes"),
        (2, "resized from 0 to 1344 bytes"),
        (2, "leaked use in generation 2"),
        (3, "opened"),
        (3, "allocated 100 bytes"),
        (2, "outdated use in generation 3"),
        (3, "closed after 128 bytes"),
    ];
    let expected: Vec<(u64, String)> = expected.map(|(g, t)| (g, t.to_owned())).to_vec();
    assert_eq!(found, expected);
    let here = |index: usize| timeline.events[index].place.map(|place| place.file());
    for index in [0, 1, 2, 4, 6] {
        assert!(
            here(index).is_some_and(|file| file.ends_with("timelines.rs")),
            "{index}"
        );
    }
    assert_eq!(here(7), None, "nobody said where");
    assert!(timeline.events.is_sorted_by_key(|event| event.time));

    let text = timeline.to_string();
    assert_eq!(text.lines().count(), 1 + timeline.events.len());
    let svg = timeline.to_svg();
    assert_eq!(
        svg.matches("<circle").count(),
        2,
        "one mark for each stale use"
    );
    assert!(
        svg.contains("RECORDED &lt;&amp;&gt;") && !svg.contains("NaN"),
        "{svg}"
    );
    assert_eq!(svg.matches('<').count(), svg.matches('>').count());
    assert!(
        !svg.contains("href") && !svg.contains("<script"),
        "stands alone"
    );
    let page = timeline.to_html();
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains(&svg));
}

#[test]
fn the_oldest_events_go_first_and_switching_off_forgets() {
    let workspace = Workspace::new("SHORT");
    workspace.record_timeline(3);
    for _ in 0..5 {
        workspace.scope(|_| Buffer::zeroed(64).unwrap()).unwrap();
    }
    let timeline = workspace.timeline();
    assert_eq!(timeline.events.len(), 3);
    // Three events a turn, and one resizing.
    assert_eq!(timeline.lost, 5 * 3 + 1 - 3);
    assert!(timeline.to_string().contains("older events"));
    workspace.record_timeline(0);
    workspace.scope(|_| Buffer::zeroed(64).unwrap()).unwrap();
    assert!(workspace.timeline().events.is_empty());
    assert!(workspace.timeline().to_svg().ends_with("</svg>\n"));
}

#[test]
fn circular_workspaces_are_recorded_too_and_recording_changes_nothing() {
    let config = WorkspaceConfig::new()
        .allocation(AllocationPolicy::Strict)
        .circular(2);
    let recorded = Workspace::with_config("CIRCLE", config);
    let silent = Workspace::with_config("SILENT", config);
    recorded.record_timeline(1000);
    let (mut stale, mut stats) = (0, Vec::new());
    for workspace in [&recorded, &silent] {
        let mut made = Vec::new();
        for turn in 0..6 {
            let bytes = if turn == 3 { 6400 } else { 640 };
            made.push(workspace.scope(|_| Buffer::zeroed(bytes).unwrap()).unwrap());
            stale += made.iter().filter(|array| array.read().is_err()).count();
            stats.push((turn, workspace.stats()));
        }
    }
    assert_eq!(stats[..6], stats[6..]);
    let uses = recorded.timeline().events.into_iter();
    let uses =
        uses.filter(|event| matches!(event.kind, TimelineKind::StaleUse { outdated: true, .. }));
    assert_eq!(2 * uses.count(), stale);
}

#[test]
fn the_report_names_every_workspace() {
    let first = Workspace::with_config("FIRST", WorkspaceConfig::new().initial_size(1 << 20));
    let scope = first.enter().unwrap();
    let second = Workspace::new("SECOND");
    second.scope(|_| ()).unwrap();
    let report = memory::report();
    let line = |name: &str| {
        let line = report.lines().find(|line| line.starts_with(name));
        line.unwrap_or_else(|| panic!("{report}")).to_owned()
    };
    assert!(
        line("FIRST").contains("1.3 MiB") && line("FIRST").ends_with("open"),
        "{report}"
    );
    assert!(line("SECOND").ends_with("1 closed"), "{report}");
    scope.close().unwrap();
    drop(second);
    assert!(!memory::report().contains("SECOND"));
}

#[test]
fn plans_say_why() {
    use PlanReason::*;
    let new = WorkspaceConfig::new();
    let strict = new.allocation(AllocationPolicy::Strict);
    let over_time = new.learning(LearningPolicy::OverTime);
    let growing = strict.spill(SpillPolicy::Reallocate);
    let never = new.learning(LearningPolicy::None);
    // (configuration, bytes of a first cycle, bytes of the running one, reason while open, reason and size afterwards)
    let cases = [
        (new, 0, 0, NothingAllocated, NothingAllocated, 0),
        (new, 0, 640, LearnsAtClose, Learned, 832),
        (new, 640, 640, Learned, Learned, 832),
        (new, 640, 6400, NeverGrows, NeverGrows, 832),
        (new.initial_size(640), 0, 64, Initial, Initial, 832),
        (new.initial_size(640), 0, 6400, NeverGrows, NeverGrows, 832),
        (
            over_time,
            640,
            640,
            WaitsForInitialize,
            WaitsForInitialize,
            0,
        ),
        (
            over_time.cycles_before_init(5),
            640,
            640,
            WaitsForCycles(4),
            WaitsForCycles(3),
            0,
        ),
        (never, 640, 640, NeverLearns, NeverLearns, 0),
        (growing, 640, 1280, Grows, Learned, 1280),
        (growing.initial_size(640), 0, 1280, Grows, Learned, 1280),
        // What `min_size` decides: sizes that are learned.
        (new.min_size(6400), 0, 640, AtMinimum, AtMinimum, 6400),
        (new.min_size(640), 0, 640, LearnsAtClose, Learned, 832),
        (
            strict.min_size(6400).initial_size(640),
            0,
            640,
            Initial,
            Initial,
            640,
        ),
        (
            growing.min_size(6400).initial_size(640),
            0,
            1280,
            AtMinimum,
            AtMinimum,
            6400,
        ),
        (never.min_size(6400), 0, 640, NeverLearns, NeverLearns, 0),
        // What `max_size` decides: everything.
        (new.max_size(640), 0, 6400, AtMaximum, AtMaximum, 640),
        (
            new.max_size(640),
            0,
            640,
            SpareAtMaximum,
            SpareAtMaximum,
            640,
        ),
        (
            new.max_size(800),
            0,
            640,
            SpareAtMaximum,
            SpareAtMaximum,
            768,
        ),
        (new.max_size(832), 0, 640, LearnsAtClose, Learned, 832),
        (growing.max_size(640), 640, 1280, AtMaximum, AtMaximum, 640),
        (growing.max_size(1000), 640, 1280, AtMaximum, AtMaximum, 960),
        (
            strict.max_size(640).initial_size(6400),
            0,
            64,
            AtMaximum,
            AtMaximum,
            640,
        ),
        (
            new.max_size(640).initial_size(640),
            0,
            64,
            SpareAtMaximum,
            SpareAtMaximum,
            640,
        ),
        (
            strict.max_size(640).min_size(6400),
            0,
            64,
            SpareAtMaximum,
            SpareAtMaximum,
            640,
        ),
        (new.max_size(63), 0, 640, AtMaximum, AtMaximum, 0),
    ];
    let mut failures = Vec::new();
    for (number, (config, first, second, open, closed, size)) in cases.into_iter().enumerate() {
        let workspace = Workspace::with_config("PLANNED", config);
        if first > 0 {
            workspace.scope(|_| Buffer::zeroed(first).unwrap()).unwrap();
        }
        let scope = workspace.enter().unwrap();
        let array = (second > 0).then(|| Buffer::zeroed(second).unwrap());
        let plan = workspace.plan();
        scope.close().unwrap();
        drop(array);
        let after = workspace.plan();
        let found = (plan.reason, after.reason, plan.next_size, after.size);
        if found != (open, closed, size, size) {
            failures.push((number, plan, after));
        }
        assert!(plan.to_string().contains(&plan.reason.to_string()));
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn plans_show_the_formula() {
    let new = WorkspaceConfig::new();
    let strict = new.allocation(AllocationPolicy::Strict);
    let never = new.learning(LearningPolicy::None);
    // (configuration, bytes of a cycle, the last line of the plan)
    let cases = [
        (new, 6400, "6400 x (1 + 0.3), in steps of 64: 8320 bytes"),
        (strict, 100, "128 x (1 + 0), in steps of 64: 128 bytes"),
        (
            new.overallocation(1.0),
            64,
            "64 x (1 + 1), in steps of 64: 128 bytes",
        ),
        (
            new.min_size(9000),
            6400,
            "6400 x (1 + 0.3), at least 9000, in steps of 64: 9024 bytes",
        ),
        (
            new.max_size(8000),
            6400,
            "6400 x (1 + 0.3), at most 8000, in steps of 64: 8000 bytes",
        ),
        (
            strict.min_size(2000).max_size(1000),
            64,
            "64 x (1 + 0), at least 2000, at most 960, in steps of 64: 960 bytes",
        ),
        // Of the initial size the minimum is no matter.
        (
            never.initial_size(1000).min_size(9000),
            64,
            "1000 x (1 + 0.3), in steps of 64: 1344 bytes",
        ),
        (
            strict.circular(3).max_size(10_000).initial_size(3000),
            64,
            "in 3 blocks, each 1000 x (1 + 0), at most 3328, in steps of 64: 1024 bytes",
        ),
    ];
    for (config, bytes, expected) in cases {
        let workspace = Workspace::with_config("PLANNED", config);
        workspace.scope(|_| drop(Buffer::zeroed(bytes))).unwrap();
        let (plan, blocks) = (workspace.plan(), workspace.plan().blocks);
        assert_eq!(plan.size, plan.terms.size * blocks, "{config:?}");
        let text = plan.to_string();
        let formula = text.lines().last().unwrap();
        assert_eq!(
            formula,
            format!("formula          {expected}"),
            "{config:?}"
        );
    }
}
