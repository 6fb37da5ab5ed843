package policy

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/tabard-dev/tabard/iampolicy"
	"github.com/tabard-dev/tabard/internal/cli/command"
)

// maxLine bounds a line of --ndjson.
const maxLine = 16 << 20

// answer is the line that is printed for a case.
type answer struct {
	ID       string           `json:"id"`
	Decision iampolicy.Effect `json:"decision"`
	// Kind and Sid say which policy decided.
	Kind      iampolicy.Kind       `json:"kind"`
	Sid       string               `json:"sid,omitempty"`
	Certainty iampolicy.Certainty  `json:"certainty"`
	Questions []iampolicy.Question `json:"questions,omitempty"`
	// Mistakes are those of the documents; statements that have one never apply.
	Mistakes []string `json:"mistakes,omitempty"`
	// Statements and Missing are the trace.
	Statements []iampolicy.Reason `json:"statements,omitempty"`
	Missing    []string           `json:"missing,omitempty"`
}

// evaluation is one run of "policy eval".
type evaluation struct {
	command.Streams
	trace bool
	out   *json.Encoder
	// number counts the cases, bad those that cannot be decided.
	number, bad int
}

const evalHelp = `Reads a JSON array of cases, each a request with all the policies that bear on it,
and prints one line of JSON a case: its id, the decision (allow, explicitDeny,
implicitDeny), the kind of policy and the statement that decided, and whether the
decision follows from what AWS documents. "-" is the standard input. A case:

  [{
    "id": "report",
    "principal": "arn:aws:iam::123456789012:user/alice",
    "action": "s3:GetObject",
    "resource": "arn:aws:s3:::reports/q1.csv",
    "resourceAccount": "123456789012",
    "context": {"aws:username": "alice", "aws:SourceIp": "10.1.2.3"},
    "identityPolicies": [{
      "Version": "2012-10-17",
      "Statement": {"Effect": "Allow", "Action": "s3:Get*", "Resource": "arn:aws:s3:::reports/*"}
    }]
  }]

principal is the ARN of a user, a role's session, an account's root or an identity
provider, the name of a service, or "anonymous". A case may also have roleArn (the
session's role, where it has a path), resourcePolicy (of the bucket, or the trust
policy of the role to assume), boundary, sessionPolicy and restrictPublicBuckets.
Condition keys have the values of context and no others. A member that is not known
is refused.

Exit code 0: all cases are decided. 2: one cannot be read; the others are decided
all the same.`

// newEval returns the command "policy eval".
func newEval(streams command.Streams) *cobra.Command {
	var lines, trace bool
	eval := &cobra.Command{
		Use:   "eval FILE",
		Short: "Decide requests by their policies",
		Long:  evalHelp,
		Example: `  tabard policy eval --trace cases.json
  tabard policy eval cases.json | jq -r 'select(.decision != "allow").id'
  generate-cases | tabard policy eval --ndjson -`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			in, err := open(streams, args[0], "a JSON array of cases, or with --ndjson one case a line")
			if err != nil {
				return streams.Unusable(err)
			}
			defer func() { _ = in.Close() }() // it was only read
			e := &evaluation{Streams: streams, trace: trace}
			read := e.array
			if lines {
				read = e.lines
			}
			return e.run(read, in)
		},
	}
	eval.Flags().BoolVar(&lines, "ndjson", false, "read one case a line instead of a JSON array, and answer each at once")
	eval.Flags().BoolVar(&trace, "trace", false, "add what became of each statement")
	return eval
}

// run decides all cases of an input.
func (e *evaluation) run(read func(io.Reader) error, in io.Reader) error {
	e.out = json.NewEncoder(e.Out)
	e.out.SetEscapeHTML(false)
	err := read(in)
	if err == nil && e.bad > 0 {
		return &command.Exit{Code: command.Unusable, What: fmt.Sprintf("cases that cannot be decided: %d of %d", e.bad, e.number)}
	}
	return err
}

// array reads a JSON array, one case after the other.
func (e *evaluation) array(in io.Reader) error {
	decoder := json.NewDecoder(bufio.NewReader(in))
	token, err := decoder.Token()
	if err != nil || token != json.Delim('[') {
		return e.Unusable(errors.New("the input is no JSON array of cases; use --ndjson for one case a line"))
	}
	for decoder.More() {
		var raw json.RawMessage
		if err := decoder.Decode(&raw); err != nil {
			return e.Unusable(fmt.Errorf("case %d: the array cannot be read: %w", e.number+1, err))
		}
		if err := e.one(raw); err != nil {
			return err
		}
	}
	if _, err := decoder.Token(); err != nil {
		return e.Unusable(fmt.Errorf("the array does not end after case %d: %w", e.number, err))
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return e.Unusable(errors.New("there is more text after the array; remove it"))
	}
	return nil
}

// lines reads one case a line; empty lines count for nothing.
func (e *evaluation) lines(in io.Reader) error {
	scanner := bufio.NewScanner(in)
	scanner.Buffer(nil, maxLine)
	for scanner.Scan() {
		line := bytes.TrimSpace(scanner.Bytes())
		if len(line) == 0 {
			continue
		}
		if err := e.one(line); err != nil {
			return err
		}
	}
	if err := scanner.Err(); err != nil {
		return e.Unusable(fmt.Errorf("case %d cannot be read: %w", e.number+1, err))
	}
	return nil
}

// one decides a case and prints the answer. The error is one of the output; a
// bad case is said and counted.
func (e *evaluation) one(raw []byte) error {
	e.number++
	s, err := readScenario(raw)
	var result answer
	if err == nil {
		result, err = e.decide(s)
	}
	if err != nil {
		e.bad++
		_ = e.Unusable(fmt.Errorf("case %s: %w", e.name(s.ID), err)) // the code is given at the end
		return nil
	}
	if err := e.out.Encode(result); err != nil {
		return fmt.Errorf("write the answer to case %s: %w", e.name(s.ID), err)
	}
	return nil
}

// name is how a case is called in a message: its number from 1, and its id.
func (e *evaluation) name(id string) string {
	if id == "" {
		return strconv.Itoa(e.number)
	}
	return fmt.Sprintf("%d (%s)", e.number, id)
}

// decide answers a case.
func (e *evaluation) decide(s *scenario) (answer, error) {
	request, policies, mistakes, err := s.build()
	if err != nil {
		return answer{}, err
	}
	explanation := iampolicy.Explain(request, policies)
	result := answer{
		ID: s.ID, Decision: explanation.Decision.Effect, Kind: explanation.Decision.Kind, Sid: explanation.Decision.Sid,
		Certainty: explanation.Certainty, Questions: explanation.Questions, Mistakes: mistakes,
	}
	if result.ID == "" {
		result.ID = strconv.Itoa(e.number)
	}
	if e.trace {
		result.Statements, result.Missing = explanation.Statements, explanation.Missing
	}
	return result, nil
}
