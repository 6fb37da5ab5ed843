import type { Operator, Role } from '../api/types'
import type { FormError } from '../states/FormErrors'

export const clouds = ['aws', 'azure', 'gcp'] as const
export type Cloud = (typeof clouds)[number]

const texts = ['arn', 'client', 'tenant', 'subscription', 'resourceGroup', 'region', 'audience', 'serviceAccount', 'documents'] as const
export type TextName = (typeof texts)[number]

// RoleFields is what a person has filled in. Without a cloud, the first that is offered is meant.
export type RoleFields = Record<TextName, string> & { cloud?: Cloud }

export const noRole: RoleFields = {
  arn: '', client: '', tenant: '', subscription: '', resourceGroup: '', region: '', audience: '', serviceAccount: '', documents: '',
}

export interface FieldOf { name: TextName; label: string; help?: string; isOptional?: boolean }

export const fieldsOf: Record<Cloud, FieldOf[]> = {
  aws: [{ name: 'arn', label: 'ARN of the role', help: 'For example arn:aws:iam::123456789012:role/name' }],
  azure: [
    { name: 'client', label: 'Client ID', help: 'Of the user-assigned identity, a UUID' },
    { name: 'tenant', label: 'Tenant ID', help: 'A UUID' },
    { name: 'subscription', label: 'Subscription ID', help: 'A UUID' },
    { name: 'resourceGroup', label: 'Resource group', isOptional: true },
    { name: 'region', label: 'Region', isOptional: true, help: 'Some operators need it, for example westeurope' },
  ],
  gcp: [
    { name: 'audience', label: 'Audience', help: 'Begins with //iam.googleapis.com/projects/' },
    { name: 'serviceAccount', label: 'Service account', help: 'An e-mail address that ends with .iam.gserviceaccount.com' },
  ],
}

// cloudsOf are the clouds whose tokens the operator takes, that of the cluster first. Where its
// author does not say which, all are.
export function cloudsOf(operator: Operator, own?: string): Cloud[] {
  const features = operator.chosen?.features ?? []
  const taken = clouds.filter((cloud) => features.some(({ name, support }) => name === `token-auth-${cloud}` && support === 'yes'))
  return ownFirst(taken.length > 0 ? taken : [...clouds], own)
}

export function ownFirst(list: Cloud[], own?: string): Cloud[] {
  return [...list].sort((a, b) => Number(b === own) - Number(a === own))
}

// missingIn says which fields are empty. Whether the rest is right, the server says.
export function missingIn(fields: RoleFields, cloud: Cloud): FormError[] {
  return fieldsOf[cloud]
    .filter(({ name, isOptional }) => !isOptional && fields[name].trim() === '')
    .map(({ name, label }) => ({ id: `role-${name}`, text: `${label} is empty` }))
}

// roleOf is the role of the cloud as it was typed: the server says what is wrong with it, a space too.
export function roleOf(fields: RoleFields, cloud: Cloud): Role {
  if (cloud === 'aws') return { arn: fields.arn }
  if (cloud === 'gcp') return { gcp: { audience: fields.audience, serviceAccount: fields.serviceAccount } }
  const { client, tenant, subscription } = fields
  return { azure: { client, tenant, subscription, resourceGroup: fields.resourceGroup || undefined, region: fields.region || undefined } }
}

export function documentsOf(fields: RoleFields, cloud: Cloud): string | undefined {
  return cloud === 'aws' && fields.documents.trim() !== '' ? fields.documents : undefined
}

// readPaste finds what to fill in in a pasted text: an ARN, an audience, a service account, or the
// reply to a hand-off.
export function readPaste(text: string): Partial<RoleFields> | undefined {
  const word = text.trim().replace(/^"(.*)"$/, '$1')
  const reply = word.startsWith('{') ? fromReply(word) : undefined
  if (reply) return reply
  if (/^(https:)?\/\/iam\.googleapis\.com\//.test(word)) return { cloud: 'gcp', audience: word }
  if (/^\S+@\S+\.iam\.gserviceaccount\.com$/.test(word)) return { cloud: 'gcp', serviceAccount: word }
  const arn = arnIn(word)
  return arn ? { cloud: 'aws', arn } : undefined
}

// arnIn finds an ARN in a letter or in what a command printed: that of a role, if there are others, too.
function arnIn(text: string): string | undefined {
  const found = (text.match(/\barn:[^\s"'`<>,;]+/g) ?? []).map((arn) => arn.replace(/[.:!?)\]}]+$/, ''))
  return found.find((arn) => arn.includes(':role/')) ?? found[0]
}

function fromReply(text: string): Partial<RoleFields> | undefined {
  let reply: unknown
  try {
    reply = JSON.parse(text)
  } catch {
    return undefined
  }
  if (typeof reply !== 'object' || reply === null || !('roleArn' in reply) || typeof reply.roleArn !== 'string') return undefined
  return { cloud: 'aws', arn: reply.roleArn }
}
