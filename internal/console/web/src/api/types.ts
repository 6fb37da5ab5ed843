// Written by "go run ./hack/consoletypes". The types of internal/console/api, as the API has them.

export interface Code {
  code: string;
}
export interface Opened {
  csrf: string;
}
export interface Session {
  user: string;
  cluster: string;
  hasCluster: boolean;
  readOnly: boolean;
  catalogue: string;
  version: string;
}
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  code: string;
  instance: string;
  next?: string[];
  missingRight?: string;
}
export interface Fact {
  name: string;
  object: string;
  field: string;
  value: string;
  holds: string;
  why?: string;
}
export interface Cluster {
  tokenMode: string;
  cloud?: string;
  issuer?: string;
  reason?: string;
  facts: Fact[];
  missingRights?: string[];
  sentence: string;
  follows: string;
  command: string;
}
export interface Finding {
  code: string;
  file?: string;
  document?: number;
  object?: string;
  message: string;
}
export interface FacetValue {
  value: string;
  label: string;
  count: number;
}
export interface Facet {
  name: string;
  label: string;
  values: FacetValue[];
}
export interface Install {
  namespace: string;
  csv?: string;
  state?: string;
}
export interface Asked {
  state: string;
  count: number;
  sensitive: number;
  incomplete?: boolean;
  why?: string;
}
export interface Place {
  kind: string;
  namespace?: string;
  name: string;
}
export interface Row {
  id: string;
  source: Place;
  package: string;
  displayName?: string;
  provider?: string;
  channel?: string;
  version?: string;
  csv?: string;
  tokens: {[key: string]: string};
  features: string[];
  why?: string;
  permissions: Asked;
  deprecated?: string;
  installed?: Install[];
  asks: string;
}
export interface Operators {
  items: Row[];
  matching: number;
  total: number;
  unknown: number;
  notStandalone: number;
  page: number;
  limit: number;
  facets: Facet[];
  findings: Finding[];
  findingsTotal: number;
  readAt: string;
  cloud?: string;
  command: string;
}
export interface Sentence {
  text: string;
  marks: string[];
}
export interface PermissionRequest {
  name: string;
  secret?: string;
  audiences: string[];
  serviceAccounts: string[];
  sentences: Sentence[];
}
export interface Permissions {
  known: boolean;
  why?: string;
  source?: string;
  certainty?: string;
  asksNothing?: boolean;
  incomplete?: boolean;
  digest?: string;
  requests: PermissionRequest[];
  policy?: string;
  findings: Finding[];
  instructions: string[];
}
export interface Feature {
  name: string;
  support: string;
  source?: string;
}
export interface Chosen {
  version?: string;
  csv: string;
  displayName?: string;
  provider?: string;
  description?: string;
  capabilities?: string;
  categories: string[];
  installModes: string[];
  repository?: string;
  metadataKnown: boolean;
  features: Feature[];
  values: string[];
  permissions: Permissions;
}
export interface VersionDetail {
  version?: string;
  csv: string;
  channels: string[];
  upgradesFrom: string[];
  deprecated?: string;
  permissions: Asked;
}
export interface ChannelDetail {
  name: string;
  head?: string;
  invalid?: boolean;
  entries: number;
  deprecated?: string;
}
export interface Operator {
  id: string;
  source: Place;
  package: string;
  defaultChannel?: string;
  deprecated?: string;
  channels: ChannelDetail[];
  versions: VersionDetail[];
  chosen?: Chosen;
  findings: Finding[];
  installed?: Install[];
  cannotInstall?: string;
  suggestedNamespace?: string;
  command: string;
}
export interface DifferenceRow {
  class: string;
  sensitive: boolean;
  marks: string[];
  text: string;
}
export interface Difference {
  from: string;
  to: string;
  known: boolean;
  why?: string;
  rows: DifferenceRow[];
  trustMustChange: boolean;
  command: string;
}
