package private

import (
	"fmt"
	"io/fs"
	"strings"
)

// Refusal says why a folder is not its user's alone, and what helps.
type Refusal struct{ Reason string }

// Error implements error.
func (r *Refusal) Error() string { return r.Reason }

func refuse(format string, arguments ...any) error {
	return &Refusal{fmt.Sprintf(format, arguments...)}
}

// entry is what the system says of one name, without following a link.
type entry struct {
	path     string
	mode     fs.FileMode
	uid, gid int
	// shared says that an access control list has a say in it. Its users' rights hide
	// in the bits of the group.
	shared bool
	// target is where a link leads to.
	target string
}

// user is who wants the folder.
type user struct {
	uid int
	// isAlone says that a group has nobody in it but the user. Many systems give each
	// user such a group, and make folders that it may write.
	isAlone func(gid int) bool
}

const others = 0o002

// judgeParent says whether a name on the way is one that nobody else can take away or
// put something else in the place of: it is root's or the user's, and so is whoever
// may write into it. Of links only root's are taken, which are how a system is laid
// out (/tmp on macOS); the walk goes on where they lead.
func (u user) judgeParent(e entry) error {
	switch {
	case e.uid != 0 && e.uid != u.uid:
		return refuse("%s belongs to user %d, who could put another folder in its place; name a folder with --dir that is below folders of yours and of root's only", e.path, e.uid)
	case e.mode.Type() == fs.ModeSymlink && e.uid == 0:
		return nil
	case e.mode.Type() == fs.ModeSymlink:
		return refuse("%s is a symbolic link, and none is followed; name the folder that it leads to (%s) with --dir", e.path, e.target)
	case !e.mode.IsDir():
		return refuse("%s is no folder; name another one with --dir", e.path)
	case e.mode&fs.ModeSticky != 0: // only who made a name in it may take that away
		return nil
	}
	if who := u.writers(e); who != "" {
		return refuse("%s may write into %s (mode %v), and could put another folder in the lab's place; type \"chmod go-w %[2]s\" if that is yours to do, "+
			"or name a folder elsewhere with --dir", who, e.path, e.mode)
	}
	return nil
}

// judgeFolder says whether the folder itself is the user's, and whether others may
// write into it: what is in it may be theirs then.
func (u user) judgeFolder(e entry) (open bool, err error) {
	switch {
	case e.mode.Type() == fs.ModeSymlink:
		return false, refuse("%s is a symbolic link, and none is followed; name the folder that it leads to (%s) with --dir", e.path, e.target)
	case !e.mode.IsDir():
		return false, refuse("%s is no folder; name another one with --dir", e.path)
	case e.uid != u.uid:
		return false, refuse("%s belongs to user %d, and you are user %d; name a folder of your own with --dir, or be that user", e.path, e.uid, u.uid)
	case e.mode&fs.ModeSticky != 0:
		return false, refuse("%s is a folder for everybody (mode %v); name one below it with --dir", e.path, e.mode)
	}
	return u.writers(e) != "", nil
}

// judgeContent says whether a file in the folder is the user's own.
func (u user) judgeContent(e entry, mayBeLink bool) error {
	switch {
	case e.uid != u.uid:
		return refuse("%s belongs to user %d, and was not made by the lab; remove the lab's folder and make it anew", e.path, e.uid)
	case e.mode.Type() == fs.ModeSymlink && !mayBeLink:
		return refuse("%s is a symbolic link to %s, and was not made by the lab; remove it", e.path, e.target)
	case e.mode.Type() == fs.ModeSymlink:
		return nil
	}
	if who := u.writers(e); who != "" {
		return refuse("%s may write %s (mode %v), which may not hold what the lab wrote; remove the lab's folder and make it anew", who, e.path, e.mode)
	}
	return nil
}

// writers are who may write besides root and the user; empty for nobody.
func (u user) writers(e entry) string {
	const group = 0o020
	var who []string
	if e.mode&group != 0 && (e.shared || !u.isAlone(e.gid)) {
		who = append(who, fmt.Sprintf("group %d", e.gid))
	}
	if e.mode&others != 0 {
		who = append(who, "everybody")
	}
	return strings.Join(who, " and ")
}

// isAlone says by the system's two files whether a group has nobody in it but a user.
// What is not in them is not known.
func isAlone(passwd, groups string, uid, gid int) bool {
	name := ""
	for line := range strings.Lines(passwd) {
		fields := strings.Split(strings.TrimSpace(line), ":")
		if len(fields) < 4 {
			continue
		}
		if fields[2] == fmt.Sprint(uid) {
			name = fields[0]
		} else if fields[3] == fmt.Sprint(gid) {
			return false
		}
	}
	found := false
	for line := range strings.Lines(groups) {
		fields := strings.Split(strings.TrimSpace(line), ":")
		if len(fields) < 4 || fields[2] != fmt.Sprint(gid) {
			continue
		}
		found = true
		for member := range strings.SplitSeq(fields[3], ",") {
			if member != "" && member != name {
				return false
			}
		}
	}
	return found && name != ""
}
