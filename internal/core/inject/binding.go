package inject

import (
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
)

// binding is what a ServiceAccount asks for, with the defaults filled in.
type binding struct {
	// roleARN is as written; empty means not opted in.
	roleARN, audience string
	regionalSTS       bool
	// tokenExpiration is in seconds, within the limits.
	tokenExpiration int64
}

// bind reads the annotations of a ServiceAccount. What cannot be parsed counts
// as not said.
func (in *Injector) bind(annotations map[string]string) binding {
	found := binding{
		roleARN:         annotations[in.names.roleARN],
		audience:        in.settings.Audience,
		regionalSTS:     in.settings.RegionalSTS,
		tokenExpiration: in.settings.TokenExpiration,
	}
	// An empty audience would make a token for the API server, which has no
	// business at AWS.
	if audience := annotations[in.names.audience]; audience != "" {
		found.audience = audience
	}
	if regional, err := strconv.ParseBool(annotations[in.names.regionalSTS]); err == nil {
		found.regionalSTS = regional
	}
	if seconds, ok := parseExpiration(annotations[in.names.tokenExpiration]); ok {
		found.tokenExpiration = seconds
	}
	return found
}

// parseExpiration reads seconds and brings them into the limits.
func parseExpiration(text string) (int64, bool) {
	if text == "" {
		return 0, false
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	return clamp(seconds), err == nil
}

// clamp brings a token's life into what Kubernetes accepts: outside, the pod
// itself would be refused.
func clamp(seconds int64) int64 {
	return min(max(seconds, MinTokenExpiration), MaxTokenExpiration)
}

// skipped are the names of the containers that the pod does not want injected.
// Blanks around a name do not count; a list that is no CSV record skips none.
func (in *Injector) skipped(pod Pod) (names, warnings []string) {
	if pod.skipContainers == "" {
		return nil, nil
	}
	reader := csv.NewReader(strings.NewReader(pod.skipContainers))
	reader.TrimLeadingSpace = true
	record, err := reader.Read()
	if err != nil {
		return nil, []string{fmt.Sprintf("annotation %s is %.100q, expected container names separated by commas; no container is skipped",
			in.names.skipContainers, pod.skipContainers)}
	}
	for i, name := range record {
		record[i] = strings.TrimSpace(name)
	}
	return record, nil
}

// isRoleARN says whether text is an ARN of an IAM role, with or without a path.
// AWS: arn:PARTITION:iam::ACCOUNT:role/PATH/NAME.
func isRoleARN(text string) bool {
	rest, ok := strings.CutPrefix(text, "arn:aws")
	if !ok {
		return false
	}
	partition, rest, ok := strings.Cut(rest, ":iam::")
	if !ok || !consistsOf(partition, isPartitionRune) {
		return false
	}
	account, name, ok := strings.Cut(rest, ":role/")
	return ok && len(account) == 12 && consistsOf(account, isDigit) && name != "" && consistsOf(name, isRoleRune)
}

func consistsOf(text string, allowed func(rune) bool) bool {
	return strings.IndexFunc(text, func(r rune) bool { return !allowed(r) }) < 0
}

func isDigit(r rune) bool { return '0' <= r && r <= '9' }

func isPartitionRune(r rune) bool { return r == '-' || 'a' <= r && r <= 'z' || isDigit(r) }

func isRoleRune(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || isDigit(r) || strings.ContainsRune("_-/.@+=,", r)
}
