"""A Workspace confined to a folder shows nothing else, and says nothing of it (tests.md SC, DN).

Every refusal is compared with that of a twin that does not exist: whoever may not read a path may
not learn either whether it is there.
"""

# Paths are bytes here, which pathlib does not hold.
# ruff: noqa: PTH118

from __future__ import annotations

import os
from pathlib import Path

import pytest
from judges import ask
from trees import Link, plant
from watched import listing, needle, watched

import evergrep
from evergrep import Files, QueryError, Want, Workspace

SECRET = "OUTSIDE-7c1e"
CONTROL = "INSIDE-05d2"


@pytest.fixture
def confined(top: Path) -> Workspace:
    """A workspace on `top/root`, with secrets beside it."""
    plant(
        top,
        {
            "root/control.txt": CONTROL + "\n",
            "root/sub/deep/inside.txt": CONTROL + "\n",
            "outside/secret.txt": SECRET + "\n",
            "outside/.ignore": "control.txt\n",
            "root2/secret.txt": SECRET + "\n",
            "secret": SECRET + "\n",
        },
    )
    return Workspace(top / "root", allow=[top / "root"])


TARGETS = [
    # what is there, and its twin of equal length that is not
    ("outside", "outsidX"),
    ("outside/secret.txt", "outside/secreX.txt"),
    ("outside/secret.txt/", "outside/secreX.txt/"),
    ("root2", "root9"),
    ("root2/secret.txt", "root9/secret.txt"),
    ("secret", "secreX"),
]
FORMS = [
    "../{}", "./../{}", "sub/../../{}", "sub/deep/../../../{}", "./sub/./.././../{}", "..//{}",
    "../../{TOPNAME}/{}", "../root/../{}", "../{}/", "../{}/.", "../{}//", "../{}/..",
    "../{}/../{}",
    "sub//..//..//{}", "missing/../../{}", "control.txt/../../{}", "control.txt/../{}",
    "{TOP}/{}", "/{TOP}/{}", "//{TOP}/{}", "{TOP}/./{}", "{TOP}//{}", "{TOP}/root/../{}",
    "{TOP}/root/sub/../../{}", "{TOP}/root/../root/../{}", "{TOP}/root2/../{}", "/..{TOP}/{}",
    "/proc/self/root{TOP}/{}", "/proc/self/cwd/{TOP}/{}", "/proc/thread-self/root{TOP}/{}",
    "/dev/fd/../..{TOP}/{}", "../{}'", '../{}"', "'../{}'", "../{} ", " ../{}", "../{}\t",
    "../{}\n",
    "\n../{}", "../{}.", "../{}\x00", "../{}\x00/control.txt", "~/{}", "~root/{}", "$HOME/{}",
    "%2e%2e/{}", "%2e%2e%2f{}", "..%2f{}", "..%c0%af{}", "..\\{}", "..\\/{}", "file://{TOP}/{}",
    "file:{TOP}/{}", "file://localhost{TOP}/{}", "\udcc0\udcae\udcc0\udcae/{}", "．．/{}",
    "..\u2215{}", "C:{TOP}/{}", "\\\\?\\{TOP}\\{}", "\\\\host\\share\\{}",
    "//host/share/../../{TOP}/{}",
    "{TOP}/ROOT/../{}", "{TOP}/root/\u0000../../{}", ".../{}", "....//{}", "..;/{}", "../{}::$DATA",
    "./" * 2100 + "../{}", "sub/../" * 4 + "../{}", "../root/" * 4 + "../{}",
    "../" * 60 + "{TOPLESS}/{}", "../{}/" + "x" * 300, "../{}/" + "y/" * 2100, "*/../../{}",
    "{TOP}/{ROOTX}/{}",
]  # fmt: skip


def forms(top: Path) -> list[tuple[str, str]]:
    """Every form on every target, each beside its twin that does not exist."""
    both = []
    for form in FORMS:
        words = {"{TOP}": str(top), "{TOPLESS}": str(top)[1:], "{TOPNAME}": top.name}
        for word, value in {**words, "{ROOTX}": "rootX/../root2/.."}.items():
            form = form.replace(word, value)
        both += [(form.replace("{}", there), form.replace("{}", gone)) for there, gone in TARGETS]
    return both


def test_no_spelling_of_a_path_leads_outside(confined: Workspace, top: Path) -> None:
    """Four hundred forms, through the tool that agents call; refusal and absence read alike."""
    tool = evergrep.tool("codex.grep_files", confined, env={})
    control = tool({"pattern": CONTROL})
    assert {str(top / "root" / name) for name in ("control.txt", "sub/deep/inside.txt")} == set(
        control.text.split("\n")
    )
    asked = forms(top)
    assert len(asked) >= 200
    for there, gone in asked:
        arguments = [{"pattern": f"{SECRET}|", "path": path} for path in (there, gone)]
        refused, absent = (tool(each) for each in arguments)
        assert absent == type(refused)(
            refused.text.replace(there, gone), refused.is_error, refused.success, None, refused.rpc
        ), there
        for text in (refused.text.replace(there, ""), absent.text):
            assert SECRET not in text, there
            assert "secret.txt" not in text.replace(gone, ""), there


def test_no_spelling_of_a_root_leads_outside(confined: Workspace, top: Path) -> None:
    """The same below the tool: an engine that is asked directly refuses as well."""
    for pair in forms(top):
        answers = []
        for form in pair:
            path = os.path.join(os.fsencode(top / "root"), os.fsencode(form))
            for query in (
                needle(path, pattern=f"{SECRET}|", want=Want("lines")),
                listing(path, files=Files(hidden=True, ignore="none")),
            ):
                answer = confined.search(query)
                [state] = answer.roots
                # The parents of a form may be the root itself: what is inside may be found.
                assert [hit for hit in answer.hits if b"secret" in hit.path.split(path)[-1]] == []
                text = repr([hit.lines for hit in answer.hits])
                assert SECRET not in text, form
                assert [each for each in answer.skipped if b"outside" in each.path] == [], form
                answers.append((len(answer.hits), state.found, state.error, answer.stopped))
            answers.append(tuple(confined.stat(path)))
        assert answers[:3] == answers[3:], pair


@pytest.mark.parametrize("form", ["sub/../" * 500, "../root/" * 100, "sub/deep/../../" * 200])
@pytest.mark.parametrize("deny", [(), ("*.pem",)])
def test_a_path_of_many_steps_back_is_judged_in_time(
    form: str, deny: tuple[str, ...], confined: Workspace, top: Path
) -> None:
    """Each step is judged once: what takes twice as long a step would never end."""
    root = top / "root"
    inside = os.fsencode(root) + b"/" + form.encode() + b"control.txt"
    outside = os.fsencode(root) + b"/" + form.encode() + b"../outside/secret.txt"
    queries = [needle(path, pattern=f"{SECRET}|{CONTROL}") for path in (inside, outside)]
    found, refused = watched(root, queries, seconds=10, allow=[root], deny=deny)
    assert found.paths == [inside]
    assert (refused.paths, refused.found.roots[0].found) == ([], "missing")


def test_unconfined_the_same_spellings_do_lead_outside(top: Path, confined: Workspace) -> None:
    """The table above tests something: without a scope, dozens of its forms find the secret."""
    free = evergrep.tool("codex.grep_files", Workspace(top / "root"), env={})
    found = [
        there
        for there, _ in forms(top)
        if "secret" in free({"pattern": SECRET, "path": there}).text.replace(there, "")
        or free({"pattern": SECRET, "path": there}).success
    ]
    assert len(found) > 60
    theirs = ask(["--regexp", SECRET, "--", "../outside"], cwd=top / "root").out
    assert SECRET in theirs.decode()


LINKS = {
    "absolute file": Link("{TOP}/outside/secret.txt"),
    "absolute folder": Link("{TOP}/outside"),
    "relative file": Link("../outside/secret.txt"),
    "relative folder": Link("../outside"),
    "sibling": Link("../root2"),
    "up": Link(".."),
    "slash": Link("/"),
    "proc root": Link("/proc/self/root"),
    "proc cwd": Link("/proc/self/cwd"),
    "climbs out by the parent": Link("sub/deep/../../../outside"),
    "chain 0": Link("../outside"),
    **{f"chain {n}": Link(f"chain {n - 1}") for n in range(1, 42)},
    "sub/deeper": Link("../../outside"),
}
INWARD = {
    "to file": Link("control.txt"),
    "to folder": Link("sub"),
    "to deeper": Link("sub/deep"),
    "sub/up": Link("../sub/deep"),
    "first": Link("second"),
    "second": Link("to folder"),
}


def link_up(top: Path, links: dict[str, Link]) -> None:
    plant(
        top / "root",
        {name: Link(str(link.target).replace("{TOP}", str(top))) for name, link in links.items()},
    )


def test_no_link_leads_outside(confined: Workspace, top: Path) -> None:
    """Neither in a walk nor named, nor as a step in the middle of a path."""
    link_up(top, LINKS)
    walk = confined.search(needle(top / "root", pattern=f"{SECRET}|{CONTROL}", order="path"))
    inside = [b"control.txt", b"sub/deep/inside.txt"]
    assert [os.fsencode(top / "root") + b"/" + name for name in inside] == [
        hit.path for hit in walk.hits
    ]
    absent = confined.search(needle(top / "root" / "absent", pattern=SECRET))
    for name in LINKS:
        tails = (
            "",
            "/",
            "/secret.txt",
            "/outside/secret.txt",
            "/../outside",
            "/deep/../secret.txt",
        )
        for tail in tails:
            path = os.fsencode(top / "root" / name) + tail.encode()
            answer = confined.search(needle(path, pattern=SECRET, want=Want("lines")))
            assert answer.hits == (), path
            # An inside name may be told to be no folder; what lies outside may not be told at all.
            states = [(each.found, each.error) for each in (answer.roots[0], absent.roots[0])]
            assert states[0] == states[1], path
            assert confined.stat(path) == confined.stat(os.fsencode(top / "root" / "absent")), path


def test_links_that_stay_inside_lead_where_they_point(confined: Workspace, top: Path) -> None:
    """Confinement takes away what is outside and nothing else."""
    link_up(top, INWARD)
    free = Workspace(top / "root")
    for name in [*INWARD, "to folder/deep/inside.txt", "first/deep", "sub/up/../deep"]:
        query = needle(top / "root" / name, pattern=CONTROL, want=Want("lines"))
        expected, found = free.search(query), confined.search(query)
        assert expected.hits != ()
        assert (expected.hits, expected.roots) == (found.hits, found.roots), name


def test_an_absolute_link_that_stays_inside_leads_where_it_points(
    confined: Workspace, top: Path
) -> None:
    """A link is followed if its target is beneath an allowed folder (safety.md R4)."""
    link_up(top, {"there": Link("{TOP}/root/sub/deep")})
    answer = confined.search(needle(top / "root" / "there", pattern=CONTROL))
    assert [os.fsencode(top / "root" / "there" / "inside.txt")] == [hit.path for hit in answer.hits]


def test_several_allowed_folders_are_reached_and_no_third(top: Path, confined: Workspace) -> None:
    """Each folder that is allowed, by any path that leads there."""
    workspace = Workspace(top / "root", allow=[top / "root", top / "root2"])
    link_up(top, {"across": Link("../root2")})
    for path in (top / "root2", top / "root" / ".." / "root2", top / "root" / "across"):
        answer = workspace.search(needle(path, pattern=SECRET))
        assert [os.fsencode(path) + b"/secret.txt"] == [hit.path for hit in answer.hits], path
    answer = workspace.search(needle(top, top / "outside", pattern=SECRET))
    assert (answer.hits, [each.found for each in answer.roots]) == ((), ["missing", "missing"])


def test_an_allowed_folder_reached_through_a_link_is_itself(top: Path, confined: Workspace) -> None:
    """The owner may name the folder by a link; that is configuration, not an escape."""
    plant(top, {"name": Link("root")})
    workspace = Workspace(top / "name", allow=[top / "name"])
    answer = workspace.search(needle(top / "name", pattern=f"{CONTROL}|{SECRET}", order="path"))
    expected = [b"/control.txt", b"/sub/deep/inside.txt"]
    assert [os.fsencode(top / "name") + each for each in expected] == [
        hit.path for hit in answer.hits
    ]


def test_rules_of_folders_above_count_and_are_never_named(top: Path) -> None:
    """The one documented exception: answers depend on them (safety.md 10, row 3)."""
    body = b"a.txt\n" + b"# a rule file that grew\n" * 50_000
    plant(top, {"above/.ignore": "a.txt\n", "above/root/a.txt": "needle\n"})
    plant(top, {"grown/.ignore": body, "grown/root/a.txt": "needle\n"})
    for name in ("above", "grown"):
        root = top / name / "root"
        free, confined = Workspace(root), Workspace(root, allow=[root])
        answer = confined.search(needle(root))
        assert free.search(needle(root)).hits == answer.hits
        assert answer.skipped == ()


def test_a_repository_that_points_outside_is_not_followed(top: Path) -> None:
    """A `.git` file is a door (safety.md R8, tests.md SC-5)."""
    plant(
        top,
        {
            "outside/.git/info/exclude": "a.txt\n",
            "outside/.git/worktrees/w/commondir": "../..\n",
            "root/.git": f"gitdir: {top}/outside/.git/worktrees/w\n",
            "root/a.txt": "needle\n",
        },
    )
    root = top / "root"
    answer = Workspace(root, allow=[root]).search(needle(root))
    assert [os.fsencode(root / "a.txt")] == [hit.path for hit in answer.hits]


def test_errors_of_a_query_name_nothing_but_the_query(confined: Workspace) -> None:
    """A diagnostic is built from the pattern alone."""
    with pytest.raises(QueryError) as error:
        confined.search(needle("../outside", pattern="("))
    assert ("outside", error.value.kind) == ("outside", "pattern")
    assert "secret" not in error.value.text


DENY = ["*.pem", "private/", "/top.txt", "sub/**/half.txt", "!kept.pem"]
DENIED = ["a.pem", "sub/b.pem", "private/x.txt", "sub/private/y.txt", "top.txt", "sub/k/half.txt"]
ALLOWED = ["a.txt", "sub/top.txt", "sub/a.txt", "private.txt", "kept.pem", "half.txt"]


@pytest.fixture(params=[False, True], ids=["free", "confined"])
def denying(request: pytest.FixtureRequest, top: Path) -> Workspace:
    """A workspace with denied patterns, free or confined."""
    root = plant(top / "root", dict.fromkeys([*DENIED, *ALLOWED], SECRET + "\n"))
    return Workspace(root, allow=[root] if request.param else None, deny=DENY)


def test_denied_files_are_in_no_walk(denying: Workspace) -> None:
    """In no listing, no count, no line, whatever the flags (safety.md R5)."""
    root = denying.root
    every = Files(hidden=True, ignore="none", globs=("*",))
    expected = sorted(os.fsencode(root) + b"/" + name.encode() for name in ALLOWED)
    for query in (
        listing(root, order="path"),
        listing(root, order="path", files=every),
        needle(root, pattern=SECRET, order="path", files=every),
        needle(root, pattern=SECRET, order="path", want=Want("lines", before=1)),
        needle(root, pattern=SECRET, order="path", want=Want("counts", unreadable=True)),
    ):
        answer = denying.search(query)
        assert (expected, ()) == ([hit.path for hit in answer.hits], answer.skipped)


def test_a_denied_path_answers_as_if_it_were_not_there(denying: Workspace, top: Path) -> None:
    """Named outright, by a link, below a denied folder, through dots: all absent alike."""
    root = Path(denying.root)
    plant(
        root,
        {
            "file link": Link("a.pem"),
            "folder link": Link("private"),
            "link to a link": Link("file link"),
            "sub/back": Link("../private/x.txt"),
        },
    )
    paths = [root / name for name in DENIED]
    paths += [root / "private", root / "sub/private", root / "private/absent"]
    paths += [root / "file link", root / "folder link", root / "folder link/x.txt"]
    paths += [root / "link to a link", root / "sub/back", root / "sub/../a.pem"]
    paths += [root / "private/../private/x.txt", root / "private/.", root / "./a.pem"]
    absent = root / "absent"
    for query in (needle, listing):
        nothing = denying.search(query(absent))
        assert (nothing.roots[0].found, nothing.roots[0].error) == ("missing", 2)
        for path in map(str, paths):
            answer = denying.search(query(path))
            expected = (
                nothing.hits,
                nothing.skipped,
                nothing.stopped,
                [nothing.roots[0]._replace(path=os.fsencode(path))],
            )
            found = (answer.hits, answer.skipped, answer.stopped, list(answer.roots))
            assert expected == found, path
    for path in map(str, paths):
        assert denying.stat(os.fsencode(absent)) == denying.stat(os.fsencode(path)), path


def test_a_denied_and_an_absent_path_read_alike_to_an_agent(denying: Workspace) -> None:
    """No word of a tool tells the two apart (tests.md DN-2)."""
    tool = evergrep.tool("codex.grep_files", denying, env={})
    for denied in DENIED:
        absent = denied.replace("a.pem", "q.pem").replace("t", "q").replace("b.pem", "r.pem")
        absent = absent.replace("x.", "q.").replace("y.", "q.").replace("private", "absentx")
        replies = [tool({"pattern": SECRET, "path": path}) for path in (denied, absent)]
        assert not (Path(denying.root) / absent).exists()
        assert replies[1].text == replies[0].text.replace(denied, absent)
        assert replies[0].is_error


def test_a_rule_for_one_file_does_not_refuse_its_parent(denying: Workspace) -> None:
    """The opposite fault: a search of the folder runs, without the file (tests.md DN-4)."""
    for folder, names in [("sub", ["sub/a.txt", "sub/top.txt"]), (".", sorted(ALLOWED))]:
        root = Path(denying.root) / folder
        answer = denying.search(needle(root, pattern=SECRET))
        found = sorted(str(Path(os.fsdecode(hit.path)).resolve()) for hit in answer.hits)
        assert sorted(str(Path(denying.root).resolve() / name) for name in names) == found
