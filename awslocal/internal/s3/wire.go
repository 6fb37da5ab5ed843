package s3

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/xml"
	"net/http"
	"strconv"
	"time"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
)

// namespace is the XML namespace of S3's answers.
const namespace = "http://s3.amazonaws.com/doc/2006-03-01/"

// answer is what is sent back.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// empty is an answer without a body.
func empty(status int) *answer { return &answer{status: status, header: http.Header{}} }

// document is a successful answer in XML.
func document(value any) (*answer, *fault) {
	body, err := xml.Marshal(value)
	if err != nil {
		return nil, errInternal
	}
	a := empty(http.StatusOK)
	a.header.Set("Content-Type", "application/xml")
	a.body = append([]byte(xml.Header), body...)
	return a, nil
}

// faultAnswer is an error as S3 writes it. The request has no bucket where none
// was found.
func faultAnswer(c *call.Call, r *request, f *fault) *answer {
	a := empty(f.Status)
	if r.bucket != nil && (f.Status == http.StatusMovedPermanently || r.operation.name == "HeadBucket") {
		a.header.Set("X-Amz-Bucket-Region", r.bucket.region)
	}
	if f.Status == http.StatusNotModified {
		for _, extra := range f.fields {
			a.header.Set(extra.name, extra.value)
		}
		return a
	}
	a.header.Set("Content-Type", "application/xml")
	body := bytes.NewBufferString(xml.Header + "<Error>")
	element(body, "Code", f.Code)
	element(body, "Message", f.Message)
	for _, extra := range f.fields {
		element(body, extra.name, extra.value)
	}
	element(body, "Resource", c.HTTP.URL.Path)
	element(body, "RequestId", c.ID)
	element(body, "HostId", hostID(c.ID))
	body.WriteString("</Error>")
	a.body = body.Bytes()
	return a
}

// element writes one element. A bytes.Buffer never fails.
func element(b *bytes.Buffer, name, value string) {
	b.WriteString("<" + name + ">")
	_ = xml.EscapeText(b, []byte(value))
	b.WriteString("</" + name + ">")
}

// hostID is the value of x-amz-id-2, which people quote to AWS's support.
func hostID(requestID string) string {
	sum := sha256.Sum256([]byte("host " + requestID))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// canonicalID is the owner ID that S3 shows for an account.
func canonicalID(accountID string) string {
	sum := sha256.Sum256([]byte("canonical user of " + accountID))
	return hex.EncodeToString(sum[:])
}

// write sends an answer; a HEAD request gets only its headers.
func write(w http.ResponseWriter, c *call.Call, a *answer) {
	header := w.Header()
	for name, values := range a.header {
		header[name] = values
	}
	header.Set("Server", "AmazonS3")
	header.Set("X-Amz-Request-Id", c.ID)
	header.Set("X-Amz-Id-2", hostID(c.ID))
	head := c.HTTP.Method == http.MethodHead
	switch {
	case a.status == http.StatusNoContent || a.status == http.StatusNotModified:
	case head && a.status >= http.StatusMultipleChoices:
		// The length of a body that is not sent would only confuse clients.
	case header.Get("Content-Length") == "":
		header.Set("Content-Length", strconv.Itoa(len(a.body)))
	}
	w.WriteHeader(a.status)
	if !head && len(a.body) > 0 {
		// A client that has gone away is no trouble of the server's.
		_, _ = w.Write(a.body)
	}
}

// parseXML reads a request's document and refuses what it does not expect:
// a misspelt switch must not count as one that is off.
func parseXML[T interface{ surplus() bool }](payload []byte, into T) *fault {
	if err := xml.Unmarshal(payload, into); err != nil || into.surplus() {
		return errMalformedXML
	}
	return nil
}

// timestamp is an instant as S3 writes it in XML.
func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// anyElement catches an element that a document should not have.
type anyElement struct {
	XMLName xml.Name
}

type createBucketConfiguration struct {
	XMLName            xml.Name     `xml:"CreateBucketConfiguration"`
	LocationConstraint string       `xml:"LocationConstraint"`
	Tags               *anyElement  `xml:"Tags"`
	Rest               []anyElement `xml:",any"`
}

func (c *createBucketConfiguration) surplus() bool { return len(c.Rest) > 0 }

type locationConstraint struct {
	XMLName xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ LocationConstraint"`
	Region  string   `xml:",chardata"`
}

type owner struct {
	ID string `xml:"ID"`
}

type listAllMyBucketsResult struct {
	XMLName           xml.Name      `xml:"http://s3.amazonaws.com/doc/2006-03-01/ ListAllMyBucketsResult"`
	Owner             owner         `xml:"Owner"`
	Buckets           bucketEntries `xml:"Buckets"`
	ContinuationToken string        `xml:"ContinuationToken,omitempty"`
	Prefix            string        `xml:"Prefix,omitempty"`
}

type bucketEntries struct {
	Bucket []bucketEntry `xml:"Bucket"`
}

type bucketEntry struct {
	Name         string `xml:"Name"`
	CreationDate string `xml:"CreationDate"`
	BucketRegion string `xml:"BucketRegion"`
}

type listBucketResult struct {
	XMLName               xml.Name       `xml:"http://s3.amazonaws.com/doc/2006-03-01/ ListBucketResult"`
	Name                  string         `xml:"Name"`
	Prefix                string         `xml:"Prefix"`
	Delimiter             string         `xml:"Delimiter,omitempty"`
	StartAfter            string         `xml:"StartAfter,omitempty"`
	ContinuationToken     string         `xml:"ContinuationToken,omitempty"`
	NextContinuationToken string         `xml:"NextContinuationToken,omitempty"`
	KeyCount              int            `xml:"KeyCount"`
	MaxKeys               int            `xml:"MaxKeys"`
	EncodingType          string         `xml:"EncodingType,omitempty"`
	IsTruncated           bool           `xml:"IsTruncated"`
	Contents              []objectEntry  `xml:"Contents"`
	CommonPrefixes        []commonPrefix `xml:"CommonPrefixes"`
}

type objectEntry struct {
	Key               string `xml:"Key"`
	LastModified      string `xml:"LastModified"`
	ETag              string `xml:"ETag"`
	ChecksumAlgorithm string `xml:"ChecksumAlgorithm,omitempty"`
	ChecksumType      string `xml:"ChecksumType,omitempty"`
	Size              int    `xml:"Size"`
	Owner             *owner `xml:"Owner,omitempty"`
	StorageClass      string `xml:"StorageClass"`
}

type commonPrefix struct {
	Prefix string `xml:"Prefix"`
}

type policyStatus struct {
	XMLName  xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ PolicyStatus"`
	IsPublic bool     `xml:"IsPublic"`
}

type accessBlockConfiguration struct {
	XMLName               xml.Name     `xml:"PublicAccessBlockConfiguration"`
	Namespace             string       `xml:"xmlns,attr,omitempty"`
	BlockPublicAcls       bool         `xml:"BlockPublicAcls"`
	IgnorePublicAcls      bool         `xml:"IgnorePublicAcls"`
	BlockPublicPolicy     bool         `xml:"BlockPublicPolicy"`
	RestrictPublicBuckets bool         `xml:"RestrictPublicBuckets"`
	Rest                  []anyElement `xml:",any"`
}

func (c *accessBlockConfiguration) surplus() bool { return len(c.Rest) > 0 }

type tagging struct {
	XMLName   xml.Name     `xml:"Tagging"`
	Namespace string       `xml:"xmlns,attr,omitempty"`
	TagSet    *tagSet      `xml:"TagSet"`
	Rest      []anyElement `xml:",any"`
}

func (t *tagging) surplus() bool { return len(t.Rest) > 0 || t.TagSet == nil || t.TagSet.surplus() }

type tagSet struct {
	Tags []tag        `xml:"Tag"`
	Rest []anyElement `xml:",any"`
}

func (t *tagSet) surplus() bool {
	for _, one := range t.Tags {
		if len(one.Rest) > 0 || one.Key == nil || one.Value == nil {
			return true
		}
	}
	return len(t.Rest) > 0
}

type tag struct {
	Key   *string      `xml:"Key"`
	Value *string      `xml:"Value"`
	Rest  []anyElement `xml:",any"`
}

type deleteRequest struct {
	XMLName xml.Name       `xml:"Delete"`
	Objects []deleteObject `xml:"Object"`
	Quiet   bool           `xml:"Quiet"`
	Rest    []anyElement   `xml:",any"`
}

type deleteObject struct {
	Key  string       `xml:"Key"`
	ETag string       `xml:"ETag"`
	Rest []anyElement `xml:",any"`
}

func (d *deleteRequest) surplus() bool { return len(d.Rest) > 0 }

type deleteResult struct {
	XMLName xml.Name       `xml:"http://s3.amazonaws.com/doc/2006-03-01/ DeleteResult"`
	Deleted []deletedEntry `xml:"Deleted"`
	Errors  []deleteFault  `xml:"Error"`
}

type deletedEntry struct {
	Key string `xml:"Key"`
}

type deleteFault struct {
	Key     string `xml:"Key"`
	Code    string `xml:"Code"`
	Message string `xml:"Message"`
}
