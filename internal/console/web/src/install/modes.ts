import type { Operator } from '../api/types'
import type { FormError } from '../states/FormErrors'
import type { InstallForm } from './form'

interface Mode {
  mode: InstallForm['mode']
  label: string
  description: string
  // OLM's names of the modes that it may come to.
  names: string[]
}

// modes are what a person chooses from. Without a mode, the server chooses as the first says.
export const modes: Mode[] = [
  {
    mode: '', label: 'As the operator supports it', names: ['OwnNamespace', 'AllNamespaces'],
    description: 'As the OperatorGroup that is in the namespace. Without one its own namespace if the version supports that, else all.',
  },
  { mode: 'all', label: 'All namespaces', description: 'It watches the whole cluster.', names: ['AllNamespaces'] },
  { mode: 'own', label: 'Its own namespace', description: 'It watches the namespace that it is installed in.', names: ['OwnNamespace'] },
  { mode: 'single', label: 'One other namespace', description: 'It watches a namespace that it is not installed in.', names: ['SingleNamespace'] },
]

export function idOf({ mode }: Mode): string {
  return `mode-${mode || 'usual'}`
}

// isSupported says whether a version may be installed in a mode. Where it is not known which modes the
// version supports, as while it is read, it may be: the server decides.
export function isSupported(operator: Operator, csv: string, { names }: Mode): boolean {
  const { chosen } = operator
  if (chosen?.csv !== csv || chosen.installModes.length === 0) return true
  return names.some((name) => chosen.installModes.includes(name))
}

// wrongIn is what is wrong with the mode of a form. The version may have been chosen after the mode.
export function wrongIn(operator: Operator, { csv, mode, watched }: InstallForm): FormError[] {
  const supported = modes.filter((one) => isSupported(operator, csv, one))
  if (!supported.some((one) => one.mode === mode)) {
    return [{ id: supported[0] ? idOf(supported[0]) : 'version', text: 'The version does not support the install mode: choose another one' }]
  }
  return mode === 'single' && watched.trim() === '' ? [{ id: 'watched', text: 'Watched namespace is empty' }] : []
}
