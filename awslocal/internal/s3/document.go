package s3

import (
	"encoding/xml"
	"errors"
)

// The documents of requests and answers, as the Amazon S3 API reference has them.

// surplus is an element that a document should not have: reading one fails.
type surplus struct{}

var errSurplus = errors.New("an element that is not expected")

// UnmarshalXML refuses the element.
func (surplus) UnmarshalXML(*xml.Decoder, xml.StartElement) error { return errSurplus }

type createBucketConfiguration struct {
	XMLName            xml.Name  `xml:"CreateBucketConfiguration"`
	LocationConstraint string    `xml:"LocationConstraint"`
	Tags               *struct{} `xml:"Tags"`
	Location           *struct{} `xml:"Location"`
	Bucket             *struct{} `xml:"Bucket"`
	Rest               []surplus `xml:",any"`
}

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
	Marker                *string        `xml:"Marker"`
	NextMarker            string         `xml:"NextMarker,omitempty"`
	KeyCount              *int           `xml:"KeyCount"`
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

type copyObjectResult struct {
	XMLName      xml.Name `xml:"CopyObjectResult"`
	Namespace    string   `xml:"xmlns,attr"`
	LastModified string   `xml:"LastModified"`
	ETag         string   `xml:"ETag"`
	ChecksumType string   `xml:"ChecksumType"`
	Checksum     checksumElement
}

// checksumElement is a checksum, whose element is named after its algorithm.
type checksumElement struct {
	XMLName xml.Name
	Value   string `xml:",chardata"`
}

type policyStatus struct {
	XMLName  xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ PolicyStatus"`
	IsPublic bool     `xml:"IsPublic"`
}

type accessBlockConfiguration struct {
	XMLName               xml.Name  `xml:"PublicAccessBlockConfiguration"`
	Namespace             string    `xml:"xmlns,attr,omitempty"`
	BlockPublicAcls       bool      `xml:"BlockPublicAcls"`
	IgnorePublicAcls      bool      `xml:"IgnorePublicAcls"`
	BlockPublicPolicy     bool      `xml:"BlockPublicPolicy"`
	RestrictPublicBuckets bool      `xml:"RestrictPublicBuckets"`
	Rest                  []surplus `xml:",any"`
}

type tagging struct {
	XMLName   xml.Name  `xml:"Tagging"`
	Namespace string    `xml:"xmlns,attr,omitempty"`
	TagSet    *tagSet   `xml:"TagSet"`
	Rest      []surplus `xml:",any"`
}

type tagSet struct {
	Tags []tag     `xml:"Tag"`
	Rest []surplus `xml:",any"`
}

type tag struct {
	Key   *string   `xml:"Key"`
	Value *string   `xml:"Value"`
	Rest  []surplus `xml:",any"`
}

type deleteRequest struct {
	XMLName xml.Name       `xml:"Delete"`
	Objects []deleteObject `xml:"Object"`
	Quiet   bool           `xml:"Quiet"`
	Rest    []surplus      `xml:",any"`
}

type deleteObject struct {
	Key  string `xml:"Key"`
	ETag string `xml:"ETag"`
	// The three below are read to be refused by name.
	VersionID        *string   `xml:"VersionId"`
	LastModifiedTime *string   `xml:"LastModifiedTime"`
	Size             *string   `xml:"Size"`
	Rest             []surplus `xml:",any"`
}

// unsupported names a condition of a deletion that is not played.
func (d deleteObject) unsupported() string {
	switch {
	case d.VersionID != nil:
		return "VersionId"
	case d.LastModifiedTime != nil:
		return "LastModifiedTime"
	case d.Size != nil:
		return "Size"
	}
	return ""
}

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
