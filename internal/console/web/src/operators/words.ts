import type { Asked, Place } from '../api/types'

const clouds: Record<string, string> = { aws: 'AWS', azure: 'Azure', gcp: 'GCP' }

export function cloudName(cloud: string): string {
  return clouds[cloud] ?? cloud
}

// askedInWords never says that an operator asks for nothing where its author does not say so.
export function askedInWords(asked: Asked): string {
  if (asked.state !== 'declared') return 'Not declared by the author'
  const text = asked.count === 0 ? 'Asks for nothing' : String(asked.count)
  return [text, asked.sensitive > 0 && `${asked.sensitive} sensitive`, asked.incomplete && 'incomplete'].filter(Boolean).join(', ')
}

const supports: Record<string, string> = {
  yes: 'supported', no: 'not supported', notStated: 'not stated', claimed: 'claimed, the cloud is not known', unknown: 'not known',
}

export function supportInWords(support: string): string {
  return supports[support] ?? support
}

export function placeOf({ namespace, name }: Place): string {
  return namespace ? `${namespace}/${name}` : name
}

// pageOf is the page of an operator, of the version that was chosen.
export function pageOf(id: string, version?: string | null): string {
  return `/operators/${encodeURIComponent(id)}${version ? `?${new URLSearchParams({ version })}` : ''}`
}
