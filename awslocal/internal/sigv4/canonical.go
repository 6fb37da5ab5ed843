package sigv4

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Hash is the lower-case hexadecimal SHA-256 of a body.
func Hash(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// IsHash says whether a text is a hash as Hash writes it.
func IsHash(text string) bool {
	raw, err := hex.DecodeString(text)
	return err == nil && len(raw) == sha256.Size && hex.EncodeToString(raw) == text
}

// Matches says whether the secret, the request and its payload hash give this
// signature. The hash is the text that stands in the canonical request: a
// SHA-256, or a constant such as UNSIGNED-PAYLOAD.
func (s *Signature) Matches(r *http.Request, secret, payloadHash string) bool {
	want := s.sum(secret, s.stringToSign(r, payloadHash))
	return hmac.Equal([]byte(want), []byte(s.Sum))
}

func (s *Signature) stringToSign(r *http.Request, payloadHash string) string {
	canonical := strings.Join([]string{
		r.Method,
		s.canonicalPath(r.URL),
		canonicalQuery(r.URL.RawQuery, s.Presigned),
		s.canonicalHeaders(r),
		strings.Join(s.Signed, ";"),
		payloadHash,
	}, "\n")
	return strings.Join([]string{Algorithm, s.Time.Format(timeLayout), s.Scope(), Hash([]byte(canonical))}, "\n")
}

// sum signs a text with the key that the secret and the scope give.
func (s *Signature) sum(secret, text string) string {
	key := mac([]byte("AWS4"+secret), s.Day)
	for _, part := range []string{s.Region, s.Service, terminator} {
		key = mac(key, part)
	}
	return hex.EncodeToString(mac(key, text))
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text)) // a hash never fails to write
	return h.Sum(nil)
}

// canonicalPath encodes each segment once for Amazon S3, and twice, after
// removing dots, for every other service.
func (s *Signature) canonicalPath(u *url.URL) string {
	raw := u.EscapedPath()
	if raw == "" {
		raw = "/"
	}
	if s.Service != "s3" {
		clean := path.Clean(raw)
		if strings.HasSuffix(raw, "/") && clean != "/" {
			clean += "/"
		}
		raw = clean
	}
	segments := strings.Split(raw, "/")
	for i, segment := range segments {
		if plain, err := url.PathUnescape(segment); err == nil {
			segment = plain
		}
		segments[i] = encode(segment)
		if s.Service != "s3" {
			segments[i] = encode(segments[i])
		}
	}
	return strings.Join(segments, "/")
}

// canonicalQuery leaves a presigned URL's own signature out. A signature that
// came in the header covers everything in the query.
func canonicalQuery(raw string, presigned bool) string {
	var pairs [][2]string
	for part := range strings.SplitSeq(raw, "&") {
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		if presigned && name == "X-Amz-Signature" {
			continue
		}
		pairs = append(pairs, [2]string{encode(unescape(name)), encode(unescape(value))})
	}
	slices.SortFunc(pairs, func(a, b [2]string) int {
		if c := strings.Compare(a[0], b[0]); c != 0 {
			return c
		}
		return strings.Compare(a[1], b[1])
	})
	var out strings.Builder
	for i, pair := range pairs {
		if i > 0 {
			out.WriteByte('&')
		}
		out.WriteString(pair[0] + "=" + pair[1])
	}
	return out.String()
}

// unescape leaves alone what is not encoded well: such a request has some
// signature too, only never a matching one.
func unescape(text string) string {
	if plain, err := url.QueryUnescape(text); err == nil {
		return plain
	}
	return text
}

func (s *Signature) canonicalHeaders(r *http.Request) string {
	var out strings.Builder
	for _, name := range s.Signed {
		out.WriteString(name)
		out.WriteByte(':')
		for i, value := range headerValues(r, name) {
			if i > 0 {
				out.WriteByte(',')
			}
			out.WriteString(trim(value))
		}
		out.WriteByte('\n')
	}
	return out.String()
}

// trim makes one space of many, and none of those at the ends. Other white space
// stays as it is.
func trim(value string) string {
	words := strings.FieldsFunc(value, func(r rune) bool { return r == ' ' })
	return strings.Join(words, " ")
}

// headerValues knows the headers that net/http takes out of the header map.
func headerValues(r *http.Request, name string) []string {
	if name == "host" {
		return []string{r.Host}
	}
	values := r.Header.Values(name)
	if len(values) > 0 {
		return values
	}
	switch name {
	case "content-length":
		return []string{strconv.FormatInt(max(r.ContentLength, 0), 10)}
	case "transfer-encoding":
		return r.TransferEncoding
	}
	return nil
}

// encode is AWS's percent encoding: all but letters, digits, "-", ".", "_" and
// "~", in upper-case hexadecimal.
func encode(text string) string {
	const digits = "0123456789ABCDEF"
	var out strings.Builder
	for i := range len(text) {
		c := text[i]
		switch {
		case 'A' <= c && c <= 'Z', 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '-', c == '.', c == '_', c == '~':
			out.WriteByte(c)
		default:
			out.Write([]byte{'%', digits[c>>4], digits[c&15]})
		}
	}
	return out.String()
}
