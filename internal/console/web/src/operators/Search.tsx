import { useEffect, useState } from 'react'
import { SearchInput } from '@patternfly/react-core'
import type { Query } from './query'

// So long after the last key the list is asked.
const pause = 300

export function Search({ query }: { query: Query }) {
  const asked = query.get('search')
  const [text, setText] = useState(asked)
  // The address also changes by the back button, a link and "Clear all filters".
  useEffect(() => setText(asked), [asked])
  useEffect(() => {
    if (text === asked) return
    const timer = setTimeout(() => query.set('search', text), pause)
    return () => clearTimeout(timer)
  })
  return (
    <SearchInput
      value={text}
      onChange={(_event, next) => setText(next)}
      onClear={() => query.set('search', '')}
      placeholder="Name, package, provider"
      aria-label="Search operators"
    />
  )
}
