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
  field?: string;
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
export interface CatalogueFinding {
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
  findings: CatalogueFinding[];
  findingsTotal: number;
  readAt: string;
  installedUnknown?: string;
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
  findings: CatalogueFinding[];
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
export interface GraphEdge {
  from: number;
  to: number;
  lane: number;
}
export interface GraphNode {
  version?: string;
  csv: string;
  head: boolean;
  missing: boolean;
  notes: string[];
}
export interface Graph {
  nodes: GraphNode[];
  edges: GraphEdge[];
  lanes: number;
  leftOut: number;
}
export interface Channel {
  name: string;
  head?: string;
  invalid?: boolean;
  entries: number;
  deprecated?: string;
  graph?: Graph;
}
export interface Operator {
  id: string;
  source: Place;
  package: string;
  defaultChannel?: string;
  deprecated?: string;
  channels: Channel[];
  versions: VersionDetail[];
  chosen?: Chosen;
  findings: CatalogueFinding[];
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
export interface HandoffQuestion {
  operator: string;
  version?: string;
  namespace?: string;
  account?: string;
  clusterName?: string;
  issuer?: string;
  roleName?: string;
  path?: string;
  boundary?: string;
}
export interface HandoffFile {
  name: string;
  text: string;
}
export interface Handoff {
  files: HandoffFile[];
  roleName: string;
  missing: string[];
  command: string;
}
export interface GCPRole {
  audience: string;
  serviceAccount: string;
}
export interface AzureRole {
  client: string;
  tenant: string;
  subscription: string;
  resourceGroup?: string;
  region?: string;
}
export interface Role {
  arn?: string;
  azure?: AzureRole;
  gcp?: GCPRole;
}
export interface CheckQuestion {
  operator: string;
  version?: string;
  namespace: string;
  role: Role;
  documents?: string;
}
export interface CheckRow {
  result: string;
  good: boolean;
  what: string;
  why?: string;
}
export interface Judgement {
  csv: string;
  from?: string;
  verdict: string;
  digest?: string;
  why: string;
  changes: DifferenceRow[];
  trust: CheckRow[];
  permissions: CheckRow[];
  warnings: string[];
  broader: string[];
  notSeen: string[];
}
export interface Check {
  judgement: Judgement;
  enough: boolean;
  command: string;
}
export interface ReasonQuestion {
  text: string;
}
export interface Reason {
  text: string;
  flag: string;
}
export interface InstallQuestion {
  operator: string;
  version?: string;
  channel?: string;
  namespace: string;
  mode?: string;
  watched?: string;
  approval: string;
  role?: Role;
  withoutRole?: boolean;
  force?: boolean;
  documents?: string;
  accept?: string;
  reason?: string;
  digest?: string;
}
export interface Change {
  kind: string;
  name: string;
  exists: boolean;
  sentence: string;
}
export interface InstallPlan {
  digest: string;
  changes: Change[];
  manifests: string;
  judgement: Judgement;
  mayPass: boolean;
  accept?: string;
  neighbours: string[];
  warnings: string[];
  command: string;
}
export interface Written {
  namespace: string;
  name: string;
  said: string[];
}
export interface Stage {
  n: number;
  name: string;
  state: string;
  since: string;
  sentence: string;
  next?: string;
  object?: string;
}
export interface InstallRow {
  namespace: string;
  subscription: string;
  package: string;
  csv?: string;
  installed: boolean;
  next?: string;
  role?: string;
  stage: Stage;
  of: number;
  needsYou: boolean;
}
export interface Installs {
  items: InstallRow[];
  partly: string[];
  readAt: string;
  command: string;
}
export interface InstallDetail {
  namespace: string;
  subscription: string;
  package: string;
  csv?: string;
  installed: boolean;
  next?: string;
  role?: string;
  stage: Stage;
  of: number;
  needsYou: boolean;
  channel: string;
  source: string;
  approval: string;
  stages: Stage[];
  stageNames: string[];
  values: {[key: string]: string};
  neighbours: string[];
  waiting?: string;
  readAt: string;
  command: string;
}
export interface Upgrade {
  plan: string;
  judgements: Judgement[];
  warnings: string[];
  verdict: string;
  digest: string;
  mayPass: boolean;
  accept?: string;
  annotation?: string;
  command: string;
}
export interface ApproveQuestion {
  plan: string;
  verdict: string;
  digest: string;
  accept?: string;
  reason?: string;
}
export interface RoleQuestion {
  role: Role;
  documents?: string;
  accept?: string;
  reason?: string;
  digest?: string;
}
export interface RolePlan {
  digest: string;
  changes: string[];
  judgement: Judgement;
  mayPass: boolean;
  accept?: string;
  command: string;
}
export interface PodRow {
  namespace: string;
  name: string;
  serviceAccount: string;
  phase: string;
  created: string;
  standing: string;
  role?: string;
  has?: string;
  container?: string;
  by?: string;
  link: string;
  code?: string;
  text: string;
}
export interface Pods {
  items: PodRow[];
  matching: number;
  total: number;
  page: number;
  limit: number;
  facets: Facet[];
  partly: string[];
  version: string;
  readAt: string;
  command: string;
}
export interface AccountRow {
  namespace: string;
  name: string;
  standing: string;
  role?: string;
  has?: string;
  container?: string;
  by?: string;
  link: string;
  code?: string;
  text: string;
  pods: number;
  without: number;
  podsUnknown?: string;
}
export interface Accounts {
  items: AccountRow[];
  matching: number;
  total: number;
  page: number;
  limit: number;
  facets: Facet[];
  partly: string[];
  version: string;
  readAt: string;
  command: string;
}
export interface Step {
  link: string;
  name: string;
  state: string;
  text: string;
  needs?: string;
  findings?: Finding[];
}
export interface Finding {
  code: string;
  link: string;
  certainty: string;
  symptom: string;
  observed?: string;
  required?: string;
  mend: string[];
  blanks?: string[];
  note?: string;
  verify: string;
}
export interface Subject {
  namespace: string;
  pod?: string;
  serviceAccount?: string;
  actions?: string[];
  resource?: string;
}
export interface Explanation {
  subject: Subject;
  verdict: string;
  role?: string;
  first?: Finding;
  links: Step[];
  sentence: string;
  others: Finding[];
  pods: PodRow[];
  podsTotal: number;
  podsUnknown?: string;
  version: string;
  readAt: string;
  command: string;
}
export interface Changed {
  version: string;
}
export interface DecodeQuestion {
  text: string;
}
export interface Detail {
  name: string;
  value: string;
}
export interface Decoded {
  input: string;
  seen?: string;
  link?: string;
  links?: string[];
  means?: string;
  causes?: string[];
  next?: string[];
  unverified?: boolean;
  facts?: Detail[];
  linkName?: string;
  command: string;
}
export interface PolicyQuestion {
  text: string;
  kind: string;
  roleARN?: string;
}
export interface PolicyFinding {
  line: number;
  column: number;
  code: string;
  severity: string;
  message: string;
}
export interface PolicyCheck {
  unusable?: string;
  findings: PolicyFinding[];
  sentence: string;
  room?: string;
  command: string;
}
export interface WaitingRequest {
  namespace: string;
  name: string;
  actor: string;
  reason?: string;
  message?: string;
  since: string;
  command: string;
}
export interface Todo {
  title: string;
  observed?: string;
  required?: string;
  commands: string[];
  blanks?: string[];
  note?: string;
  path?: string;
}
export interface LinkState {
  link: string;
  name: string;
  asks: string;
  state: string;
  text: string;
  needs?: string;
  since?: string;
  seen: string;
  by?: string;
  path?: string;
}
export interface Overview {
  links: LinkState[];
  todo?: Todo;
  sentence: string;
  pods: number;
  given: number;
  without: number;
  unknown: number;
  lacking: PodRow[];
  podsUnknown?: string;
  requests: number;
  waitingTotal: number;
  waiting: WaitingRequest[];
  requestsUnknown?: string;
  requestsCommand: string;
  partlyPods: string[];
  partlyRequests: string[];
  version: string;
  readAt: string;
  command: string;
}
