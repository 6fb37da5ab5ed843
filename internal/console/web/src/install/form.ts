import { useState } from 'react'
import type { InstallQuestion, Operator } from '../api/types'
import { documentsOf, noRole, roleOf, type Cloud, type RoleFields } from '../roles/fields'

export interface InstallForm {
  csv: string
  channel: string
  namespace: string
  // Without a mode, the server chooses one. What is watched is a namespace, of the mode single.
  mode: '' | 'all' | 'own' | 'single'
  watched: string
  approval: 'manual' | 'automatic'
  how: '' | 'have' | 'need' | 'without'
  role: RoleFields
}

// What was filled in is kept while the page is open, also while another page is shown. It is in no
// storage and in no address: it may have an ARN.
const kept = new Map<string, InstallForm>()

function begun(operator: Operator): InstallForm {
  return {
    csv: operator.chosen?.csv ?? operator.versions[0]?.csv ?? '', channel: '', namespace: operator.suggestedNamespace ?? '',
    mode: '', watched: '', approval: 'manual', how: '', role: noRole,
  }
}

// resumed is what was filled in, for the version of the address.
function resumed(operator: Operator): InstallForm {
  const fresh = begun(operator)
  const old = kept.get(operator.id) ?? fresh
  return old.csv === fresh.csv ? old : { ...old, csv: fresh.csv, channel: '' }
}

export function useInstallForm(operator: Operator): [InstallForm, (change: Partial<InstallForm>) => void] {
  const [form, setForm] = useState(() => resumed(operator))
  const change = (part: Partial<InstallForm>) => setForm((old) => {
    const next = { ...old, ...part }
    kept.set(operator.id, next)
    return next
  })
  return [form, change]
}

export function forget(id: string) {
  kept.delete(id)
}

// keepRole fills in the role for the next time that the form is shown.
export function keepRole(operator: Operator, namespace: string, role: RoleFields) {
  kept.set(operator.id, { ...kept.get(operator.id) ?? begun(operator), namespace, how: 'have', role })
}

export function channelsOf(operator: Operator, csv: string): string[] {
  return operator.versions.find((version) => version.csv === csv)?.channels ?? []
}

// channelOf is the channel that the form shows, which is the one that is asked for. Of a version with
// one channel the form shows none, and the server knows it.
export function channelOf(operator: Operator, { csv, channel }: InstallForm): string | undefined {
  const channels = channelsOf(operator, csv)
  if (channel || channels.length < 2) return channel || undefined
  return channels.find((name) => name === operator.defaultChannel) ?? channels[0]
}

export function questionOf(operator: Operator, form: InstallForm, cloud: Cloud): InstallQuestion {
  const question: InstallQuestion = {
    operator: operator.id, version: form.csv, channel: channelOf(operator, form), namespace: form.namespace.trim(),
    mode: form.mode || undefined, watched: form.mode === 'single' ? form.watched.trim() : undefined, approval: form.approval,
  }
  if (form.how === 'without') return { ...question, withoutRole: true }
  return { ...question, role: roleOf(form.role, cloud), documents: documentsOf(form.role, cloud) }
}
