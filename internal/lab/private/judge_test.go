package private

import (
	"io/fs"
	"strings"
	"testing"
)

const (
	me, other = 1000, 65534
	mine      = 1000 // a group with nobody else in it
	crowd     = 100
)

var someone = user{uid: me, isAlone: func(gid int) bool { return gid == mine }}

// The words are what a person is told; empty is fine.
func TestAParentThatAnotherUserMaySwapIsRefused(t *testing.T) {
	dir := fs.ModeDir
	for name, c := range map[string]struct {
		mode     fs.FileMode
		uid, gid int
		shared   bool
		want     string
	}{
		"root's":                                {dir | 0o755, 0, 0, false, ""},
		"the user's":                            {dir | 0o755, me, crowd, false, ""},
		"root's for everybody, and sticky":      {dir | fs.ModeSticky | 0o777, 0, 0, false, ""},
		"the user's for everybody, and sticky":  {dir | fs.ModeSticky | 0o777, me, crowd, false, ""},
		"another's":                             {dir | 0o755, other, other, false, "belongs to user 65534"},
		"another's that the user may not write": {dir | 0o500, other, other, false, "belongs to user 65534"},
		// Whoever owns a sticky folder may take anything out of it.
		"another's, and sticky":                   {dir | fs.ModeSticky | 0o777, other, other, false, "belongs to user 65534"},
		"root's for everybody":                    {dir | 0o777, 0, 0, false, "everybody may write into /srv"},
		"the user's for everybody":                {dir | 0o757, me, mine, false, "everybody may write into /srv"},
		"the user's for a group":                  {dir | 0o775, me, crowd, false, "group 100 may write into /srv"},
		"root's for a group":                      {dir | 0o775, 0, crowd, false, `type "chmod go-w /srv"`},
		"the user's for the group of nobody else": {dir | 0o775, me, mine, false, ""},
		"the same with an access control list":    {dir | 0o775, me, mine, true, "group 1000 may write"},
		"root's link":                             {fs.ModeSymlink | 0o777, 0, 0, false, ""},
		"the user's link":                         {fs.ModeSymlink | 0o777, me, me, false, "the folder that it leads to (/x)"},
		"another's link":                          {fs.ModeSymlink | 0o777, other, other, false, "belongs to user 65534"},
		"a file":                                  {0o600, me, me, false, "is no folder"},
	} {
		t.Run(name, func(t *testing.T) {
			err := someone.judgeParent(entry{path: "/srv", mode: c.mode, uid: c.uid, gid: c.gid, shared: c.shared, target: "/x"})
			if says(err) != c.want && (c.want == "" || !strings.Contains(says(err), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestAFolderThatIsNotTheUsersIsRefused(t *testing.T) {
	dir := fs.ModeDir
	for name, c := range map[string]struct {
		mode fs.FileMode
		uid  int
		open bool
		want string
	}{
		"the user's alone":       {dir | 0o700, me, false, ""},
		"one that others read":   {dir | 0o755, me, false, ""},
		"one that others write":  {dir | 0o777, me, true, ""},
		"root's":                 {dir | 0o755, 0, false, "belongs to user 0, and you are user 1000"},
		"another's":              {dir | 0o777, other, false, "belongs to user 65534"},
		"a link of the user's":   {fs.ModeSymlink | 0o777, me, false, "is a symbolic link"},
		"a link of root's":       {fs.ModeSymlink | 0o777, 0, false, "is a symbolic link"},
		"a folder for everybody": {dir | fs.ModeSticky | 0o777, me, false, "one below it"},
		"a device":               {fs.ModeDevice | 0o600, me, false, "is no folder"},
	} {
		t.Run(name, func(t *testing.T) {
			open, err := someone.judgeFolder(entry{path: "/srv", mode: c.mode, uid: c.uid, gid: crowd})
			if open != c.open || says(err) != c.want && (c.want == "" || !strings.Contains(says(err), c.want)) {
				t.Errorf("open %v, %v; want %v, %q", open, err, c.open, c.want)
			}
		})
	}
}

func TestAFileThatAnotherUserPutThereIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		mode  fs.FileMode
		uid   int
		links bool
		want  string
	}{
		"the user's":                          {0o600, me, false, ""},
		"the user's that others read":         {0o644, me, false, ""},
		"a folder of the user's":              {fs.ModeDir | 0o700, me, false, ""},
		"another's":                           {0o600, other, false, "was not made by the lab"},
		"root's":                              {0o600, 0, false, "was not made by the lab"},
		"one that others write":               {0o666, me, false, "everybody may write"},
		"a link":                              {fs.ModeSymlink | 0o777, me, false, "is a symbolic link to /x"},
		"a link where there are links":        {fs.ModeSymlink | 0o777, me, true, ""},
		"another's link where there are some": {fs.ModeSymlink | 0o777, other, true, "was not made by the lab"},
	} {
		t.Run(name, func(t *testing.T) {
			err := someone.judgeContent(entry{path: "/srv/f", mode: c.mode, uid: c.uid, gid: crowd, target: "/x"}, c.links)
			if says(err) != c.want && (c.want == "" || !strings.Contains(says(err), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestAGroupOfOneUser(t *testing.T) {
	const passwd = "root:x:0:0::/root:/bin/sh\nann:x:1000:1000::/home/ann:/bin/sh\nbob:x:1001:1001::/:/bin/sh\ncarl:x:1002:1001::/:/bin/sh\n"
	const groups = "root:x:0:\nann:x:1000:\nbob:x:1001:\nstaff:x:50:ann,bob\nown:x:51:ann\nempty:x:52:\nbroken\n"
	for name, c := range map[string]struct {
		uid, gid int
		want     bool
	}{
		"the user's own":                {1000, 1000, true},
		"one with the user alone in it": {1000, 51, true},
		"one with nobody in it":         {1000, 52, true},
		"one with another in it":        {1000, 50, false},
		"another's own":                 {1000, 1001, false},
		"the first of two users":        {1001, 1001, false},
		"one that is not known":         {1000, 77, false},
		"of a user that is not known":   {4711, 52, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := isAlone(passwd, groups, c.uid, c.gid); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func says(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
