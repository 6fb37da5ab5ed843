import type { Live } from '../api/events'
import type { Changed } from '../api/types'
import { useFollow } from '../api/useFollow'
import type { Read } from '../api/useRead'

// useChanged follows what has a version, which its events name. An empty name follows nothing.
export function useChanged<T extends { version: string }>(of: string, read: Read<T>, span = 0): Live<Changed> {
  return useFollow<T, Changed>({ path: of === '' ? '' : `events?${new URLSearchParams({ of })}`, name: 'changed', differs }, read, span)
}

function differs(news: Changed, data: { version: string }): boolean {
  return news.version !== data.version
}
