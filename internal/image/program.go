package image

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"slices"
)

// machines are the architectures that images are made for, as Go and OCI name
// them.
var machines = map[string]elf.Machine{
	"amd64": elf.EM_X86_64,
	"arm64": elf.EM_AARCH64,
}

// readProgram reads a program and makes sure that it can run in an image that
// has nothing but it.
func readProgram(path, architecture string) ([]byte, error) {
	machine, known := machines[architecture]
	if !known {
		return nil, fmt.Errorf("no images are made for the architecture %q: it must be amd64 or arm64", architecture)
	}
	program, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the image's program: %w", err)
	}
	if err := checkProgram(program, machine); err != nil {
		return nil, fmt.Errorf("%s cannot be the program of an image for linux/%s: %w", path, architecture, err)
	}
	return program, nil
}

func checkProgram(program []byte, machine elf.Machine) error {
	binary, err := elf.NewFile(bytes.NewReader(program))
	if err != nil {
		return fmt.Errorf("it is not a Linux executable: %w", err)
	}
	// Go's programs for Linux carry the one mark or the other, by linker.
	if !slices.Contains([]elf.OSABI{elf.ELFOSABI_NONE, elf.ELFOSABI_LINUX}, binary.OSABI) {
		return fmt.Errorf("it is an executable of another system (%v)", binary.OSABI)
	}
	if binary.Machine != machine || binary.Class != elf.ELFCLASS64 || binary.Data != elf.ELFDATA2LSB {
		return fmt.Errorf("it is for another machine (%v, %v, %v)", binary.Machine, binary.Class, binary.Data)
	}
	if (binary.Type != elf.ET_EXEC && binary.Type != elf.ET_DYN) || binary.Entry == 0 {
		return fmt.Errorf("it is not an executable (%v)", binary.Type)
	}
	return checkSegments(binary, uint64(len(program)))
}

// checkSegments looks for what a loader would stumble over: an interpreter that
// the image does not have, and parts that are not in the file, of size bytes.
func checkSegments(binary *elf.File, size uint64) error {
	loaded := false
	for _, segment := range binary.Progs {
		switch segment.Type {
		case elf.PT_INTERP:
			return errors.New("it is linked dynamically, and the image has no libraries: build it with CGO_ENABLED=0")
		case elf.PT_LOAD:
			if segment.Off > size || segment.Filesz > size-segment.Off {
				return errors.New("its file is cut short")
			}
			loaded = true
		}
	}
	if !loaded {
		return errors.New("it has no part that could be loaded")
	}
	return nil
}
