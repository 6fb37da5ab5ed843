import { useSearchParams } from 'react-router-dom'

// The filters, in the order of the toolbar. Their names are those of the API and of the address.
export const filters = ['cloud', 'tokens', 'permissions', 'provider', 'source', 'category', 'feature', 'installed'] as const
export type Filter = (typeof filters)[number]

const known = [...filters, 'search', 'all', 'sort', 'page', 'limit'] as const
export type Parameter = (typeof known)[number]

export interface Query {
  get: (name: Parameter) => string
  values: (name: Filter) => string[]
  set: (name: Parameter, value: string) => void
  toggle: (name: Filter, value: string) => void
  clear: () => void
  filtered: boolean
  path: string
}

// useQuery is the state of the list. All of it is in the address, so that a link shows the same list
// and the back button works.
export function useQuery(): Query {
  const [params, setParams] = useSearchParams()

  const change = (edit: (next: URLSearchParams) => void, name?: Parameter) => setParams((old) => {
    const next = new URLSearchParams(old)
    edit(next)
    // Another list has other pages.
    if (name !== 'page') next.delete('page')
    return next
  }, { replace: name === 'search' })

  const set = (name: Parameter, value: string) => change((next) => {
    if (value === '') next.delete(name)
    else next.set(name, value)
  }, name)

  const toggle = (name: Filter, value: string) => change((next) => {
    const had = next.getAll(name)
    next.delete(name)
    // A package can have several features; of the rest it has one.
    if (name === 'feature') had.filter((other) => other !== value).forEach((other) => next.append(name, other))
    if (!had.includes(value)) next.append(name, value)
  })

  return {
    get: (name) => params.get(name) ?? '',
    values: (name) => params.getAll(name).filter(Boolean),
    set,
    toggle,
    clear: () => change((next) => [...filters, 'search'].forEach((name) => next.delete(name))),
    filtered: [...filters, 'search'].some((name) => params.get(name)),
    path: pathOf(params),
  }
}

// The API refuses parameters that it does not know, and empty ones.
function pathOf(params: URLSearchParams): string {
  const asked = new URLSearchParams()
  for (const name of known) {
    for (const value of params.getAll(name)) if (value !== '') asked.append(name, value)
  }
  const text = asked.toString()
  return text === '' ? 'operators' : `operators?${text}`
}
