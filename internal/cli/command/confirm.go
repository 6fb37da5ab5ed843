package command

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// Confirm returns a function that asks a person at a terminal and reads yes or no, where no is
// the answer of an empty line and of the end of the input. It is nil where the input is no
// terminal: a script has nobody to ask.
func Confirm(in io.Reader, out io.Writer) func(question string) (bool, error) {
	file, ok := in.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return nil
	}
	return func(question string) (bool, error) { return ask(in, out, question) }
}

func ask(in io.Reader, out io.Writer, question string) (bool, error) {
	if _, err := fmt.Fprintf(out, "%s [y/N] ", question); err != nil {
		return false, fmt.Errorf("ask: %w", err)
	}
	answer, err := bufio.NewReader(io.LimitReader(in, 1<<10)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return false, fmt.Errorf("read the answer: %w", err)
	}
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes", nil
}
