package image_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/image"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// executable is the smallest file that Linux would load: a header, and one
// segment that is the whole file. The change makes another of it.
func executable(t *testing.T, machine elf.Machine, change func(*elf.Header64, *elf.Prog64)) []byte {
	t.Helper()
	const headers = 64 + 56 // the sizes of the two headers
	header := elf.Header64{
		Type: uint16(elf.ET_EXEC), Machine: uint16(machine), Version: 1, Entry: 0x400078,
		Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: 1, Shentsize: 64,
	}
	copy(header.Ident[:], elf.ELFMAG)
	header.Ident[elf.EI_CLASS], header.Ident[elf.EI_DATA], header.Ident[elf.EI_VERSION] = byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), 1
	segment := elf.Prog64{
		Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_X),
		Vaddr: 0x400000, Filesz: headers, Memsz: headers, Align: 0x1000,
	}
	if change != nil {
		change(&header, &segment)
	}
	var file bytes.Buffer
	for _, part := range []any{header, segment} {
		must.Do(t, binary.Write(&file, binary.LittleEndian, part))
	}
	return file.Bytes()
}

// save writes a program into a folder of its own and returns its path.
func save(t *testing.T, program []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	must.Do(t, os.WriteFile(path, program, 0o600))
	return path
}

func TestAProgramThatCouldNotRunInTheImageIsRefused(t *testing.T) {
	good := executable(t, elf.EM_X86_64, nil)
	changed := func(change func(*elf.Header64, *elf.Prog64)) string {
		return save(t, executable(t, elf.EM_X86_64, change))
	}
	tests := map[string]struct{ program, architecture, says string }{
		"missing":     {program: filepath.Join(t.TempDir(), "none"), says: "no such file"},
		"a folder":    {program: t.TempDir(), says: "is a directory"},
		"empty":       {program: save(t, nil), says: "not a Linux executable"},
		"a script":    {program: save(t, []byte("#!/bin/sh\necho this is longer than a header of ELF, which has 64 bytes\n")), says: "not a Linux executable"},
		"half header": {program: save(t, good[:40]), says: "not a Linux executable"},
		"cut short": {program: changed(func(_ *elf.Header64, s *elf.Prog64) {
			s.Filesz++
			s.Memsz++
		}), says: "cut short"},
		"a segment beyond all files": {program: changed(func(_ *elf.Header64, s *elf.Prog64) {
			s.Off = 1 << 62
		}), says: "cut short"},
		"linked dynamically": {program: changed(func(_ *elf.Header64, s *elf.Prog64) {
			s.Type = uint32(elf.PT_INTERP)
		}), says: "linked dynamically"},
		"nothing to load": {program: changed(func(_ *elf.Header64, s *elf.Prog64) {
			s.Type = uint32(elf.PT_NOTE)
		}), says: "no part that could be loaded"},
		"an object file": {program: changed(func(h *elf.Header64, _ *elf.Prog64) {
			h.Type = uint16(elf.ET_REL)
		}), says: "not an executable (ET_REL)"},
		"a library": {program: changed(func(h *elf.Header64, _ *elf.Prog64) {
			h.Type, h.Entry = uint16(elf.ET_DYN), 0
		}), says: "not an executable (ET_DYN)"},
		"for FreeBSD": {program: changed(func(h *elf.Header64, _ *elf.Prog64) {
			h.Ident[elf.EI_OSABI] = byte(elf.ELFOSABI_FREEBSD)
		}), says: "another system (ELFOSABI_FREEBSD)"},
		"for the other platform":    {program: save(t, good), architecture: "arm64", says: "another machine (EM_X86_64"},
		"for no known architecture": {program: save(t, good), architecture: "riscv64", says: `"riscv64": it must be amd64 or arm64`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if test.architecture == "" {
				test.architecture = "amd64"
			}
			_, err := image.Build(image.Spec{Program: test.program, Name: "tabard", Architecture: test.architecture})
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Fatalf("got %v, want an error that says %q", err, test.says)
			}
			if test.architecture != "riscv64" && !strings.Contains(err.Error(), test.program) {
				t.Errorf("the error does not name the program: %v", err)
			}
		})
	}
}

func TestAPositionIndependentProgramIsTaken(t *testing.T) {
	program := save(t, executable(t, elf.EM_AARCH64, func(h *elf.Header64, _ *elf.Prog64) { h.Type = uint16(elf.ET_DYN) }))
	must.Get(image.Build(image.Spec{Program: program, Name: "tabard", Architecture: "arm64"}))(t)
}

func TestANameThatIsNoPlainFileNameIsRefused(t *testing.T) {
	program := save(t, executable(t, elf.EM_X86_64, nil))
	for _, name := range []string{"", ".", "..", "../tabard", "a/b", "-x", "etc", "tmp", "Tabard"} {
		if _, err := image.Build(image.Spec{Program: program, Name: name, Architecture: "amd64"}); err == nil || !strings.Contains(err.Error(), "cannot be the name") {
			t.Errorf("name %q: got error %v, want a refusal", name, err)
		}
	}
}
