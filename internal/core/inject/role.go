package inject

import "strings"

// accountLength is the number of digits of an AWS account ID.
const accountLength = 12

// compose makes the ARN of a role of the configured account of a value that is
// none; it may have a path. With an empty value nobody has opted in.
func (in *Injector) compose(value string) string {
	if in.settings.ComposeAccount == "" || value == "" || strings.Contains(value, "arn:") {
		return value
	}
	return "arn:" + in.settings.Partition + ":iam::" + in.settings.ComposeAccount + ":role/" + value
}

// parseRoleARN says whether text is an ARN of an IAM role, with or without a
// path, and of which partition. AWS: arn:PARTITION:iam::ACCOUNT:role/PATH/NAME.
func parseRoleARN(text string) (partition string, ok bool) {
	partition, rest, ok := strings.Cut(strings.TrimPrefix(text, "arn:"), ":iam::")
	if !ok || !strings.HasPrefix(text, "arn:aws") || !consistsOf(partition, isPartitionRune) {
		return "", false
	}
	account, name, ok := strings.Cut(rest, ":role/")
	ok = ok && len(account) == accountLength && consistsOf(account, isDigit) && name != "" && consistsOf(name, isRoleRune)
	return partition, ok
}

func consistsOf(text string, allowed func(rune) bool) bool {
	return strings.IndexFunc(text, func(r rune) bool { return !allowed(r) }) < 0
}

func isDigit(r rune) bool { return '0' <= r && r <= '9' }

func isPartitionRune(r rune) bool { return r == '-' || 'a' <= r && r <= 'z' || isDigit(r) }

func isRoleRune(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || isDigit(r) || strings.ContainsRune("_-/.@+=,", r)
}
