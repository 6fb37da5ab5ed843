import { useSearchParams } from 'react-router-dom'

// ListOf is a list of the API: its path, its filters in the order of the toolbar, those of them that can
// have several values, and the parameters that it has besides. The names are also those of the address.
export interface ListOf { path: string; filters: readonly string[]; many?: readonly string[]; others?: readonly string[] }

export interface Query {
  list: ListOf
  get: (name: string) => string
  values: (filter: string) => string[]
  set: (name: string, value: string) => void
  toggle: (filter: string, value: string) => void
  clear: () => void
  filtered: boolean
  path: string
}

// useQuery is the state of a list. All of it is in the address, so that a link shows the same list and the
// back button works.
export function useQuery(list: ListOf): Query {
  const [params, setParams] = useSearchParams()
  const narrowing = [...list.filters, 'search']

  const change = (edit: (next: URLSearchParams) => void, name?: string) => setParams((old) => {
    const next = new URLSearchParams(old)
    edit(next)
    // Another list has other pages. Another view of the same list has not.
    if (name !== 'page' && name !== 'view') next.delete('page')
    return next
  }, { replace: name === 'search' })

  const set = (name: string, value: string) => change((next) => {
    if (value === '') next.delete(name)
    else next.set(name, value)
  }, name)

  const toggle = (name: string, value: string) => change((next) => {
    const had = next.getAll(name)
    next.delete(name)
    if (list.many?.includes(name)) had.filter((other) => other !== value).forEach((other) => next.append(name, other))
    if (!had.includes(value)) next.append(name, value)
  })

  return {
    list,
    get: (name) => params.get(name) ?? '',
    values: (name) => params.getAll(name).filter(Boolean),
    set,
    toggle,
    clear: () => change((next) => narrowing.forEach((name) => next.delete(name))),
    filtered: narrowing.some((name) => params.get(name)),
    path: pathOf(list, params),
  }
}

// The API refuses parameters that it does not know, and empty ones.
function pathOf(list: ListOf, params: URLSearchParams): string {
  const asked = new URLSearchParams()
  for (const name of [...list.filters, 'search', ...list.others ?? [], 'sort', 'page', 'limit']) {
    for (const value of params.getAll(name)) if (value !== '') asked.append(name, value)
  }
  const text = asked.toString()
  return text === '' ? list.path : `${list.path}?${text}`
}
