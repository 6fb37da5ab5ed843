// Package private keeps a folder to its user. What is in a lab's folder makes
// anybody an administrator, is run, and names processes to end: so no other user may
// write into it, nor swap it, or a folder above it, for another.
//
// A path is walked from the top. Each folder on the way is root's or the user's, and
// nobody else may write into it, or it is sticky as /tmp is. Then nobody else can
// change what the next name means, and what was seen stays true: there is no moment
// between a look and its use at which another user could step in.
package private

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// maxLinks bounds the links on a path, as systems do.
const maxLinks = 40

// Make makes the folder at an absolute path, and what is missing above it, for its
// user only. One that is there may be open to be read. It is a *Refusal if another
// user could swap it, or may have put something into it.
func Make(dir string) error {
	open, err := judge(dir, true)
	if err != nil || !open {
		return err
	}
	if err := mustBeEmpty(dir); err != nil {
		return err
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return fmt.Errorf("close %s to others: %w", dir, err)
	}
	return mustBeEmpty(dir) // now nobody else gets at it
}

func mustBeEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) == 0 {
		return err
	}
	return refuse("others may write into %s, and it holds %q, which may be theirs; remove it, or name another folder with --dir", dir, entries[0].Name())
}

// Check says whether the folder at an absolute path is its user's alone; a *Refusal
// if not. It is fs.ErrNotExist if there is none.
func Check(dir string) error {
	open, err := judge(dir, false)
	if err == nil && open {
		err = refuse("others may write into %s: what it holds may be theirs; remove it, or name another folder with --dir", dir)
	}
	return err
}

func judge(dir string, missing bool) (open bool, err error) {
	if err := walk(dir, missing); err != nil {
		return false, err
	}
	seen, err := look(dir)
	if err != nil {
		return false, err
	}
	return self().judgeFolder(seen)
}

// CheckContent says whether the files in a private folder are its user's own: another
// may have put some there before it was private. Links are taken where they may be.
// A folder that is not there has none.
func CheckContent(dir string, mayHaveLinks bool) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	who := self()
	for _, one := range entries {
		seen, err := look(filepath.Join(dir, one.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue // another command of the user has removed it
		}
		if err == nil {
			err = who.judgeContent(seen, mayHaveLinks)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// walk looks at each folder above the last name of a path. It makes what is missing if
// it is to, the last one too.
func walk(dir string, missing bool) error {
	who, links := self(), 0
	at, rest := "/", strings.Split(strings.Trim(filepath.Clean(dir), "/"), "/")
	for {
		seen, err := look(at)
		if err == nil {
			err = who.judgeParent(seen)
		}
		if err != nil {
			return err
		}
		if seen.target != "" {
			if links++; links > maxLinks {
				return refuse("%s leads over more than %d symbolic links; name another folder with --dir", dir, maxLinks)
			}
			if !filepath.IsAbs(seen.target) {
				seen.target = filepath.Join(filepath.Dir(at), seen.target)
			}
			at, rest = "/", append(strings.Split(strings.Trim(filepath.Clean(seen.target), "/"), "/"), rest...)
			continue
		}
		at = filepath.Join(at, rest[0])
		rest = rest[1:]
		if missing {
			// One that is there already is looked at like any other.
			if err := os.Mkdir(at, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
				return fmt.Errorf("make the folder: %w", err)
			}
		}
		if len(rest) == 0 {
			return nil
		}
	}
}

func look(path string) (entry, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return entry{}, err
	}
	stat, known := info.Sys().(*syscall.Stat_t)
	if !known {
		return entry{}, fmt.Errorf("the owner of %s is not known on this system", path)
	}
	seen := entry{path: path, mode: info.Mode(), uid: int(stat.Uid), gid: int(stat.Gid), shared: isShared(path)}
	if info.Mode().Type() == fs.ModeSymlink {
		if seen.target, err = os.Readlink(path); err != nil {
			return entry{}, err
		}
	}
	return seen, nil
}

func self() user {
	uid := os.Geteuid()
	return user{uid: uid, isAlone: func(gid int) bool {
		passwd, err := os.ReadFile("/etc/passwd")
		if err != nil {
			return false
		}
		groups, err := os.ReadFile("/etc/group")
		return err == nil && isAlone(string(passwd), string(groups), uid, gid)
	}}
}
