import { useEffect, useRef, useState } from 'react'
import { SearchInput } from '@patternfly/react-core'
import type { Query } from './query'

// So long after the last key the list is asked.
const pause = 300

interface Props { query: Query; label: string; placeholder: string }

export function Search({ query, label, placeholder }: Props) {
  const asked = query.get('search')
  const [text, setText] = useState(asked)
  // The address also changes by the back button, a link and "Clear all filters". What this field has
  // sent itself comes back late, and must not take the place of what was typed meanwhile.
  const sent = useRef(asked)
  useEffect(() => {
    if (asked === sent.current) return
    sent.current = asked
    setText(asked)
  }, [asked])
  const send = (next: string) => {
    sent.current = next
    query.set('search', next)
  }
  useEffect(() => {
    if (text === sent.current) return
    const timer = setTimeout(() => send(text), pause)
    return () => clearTimeout(timer)
  })
  return (
    <SearchInput
      value={text}
      onChange={(_event, next) => setText(next)}
      onClear={() => {
        setText('')
        send('')
      }}
      placeholder={placeholder}
      aria-label={label}
    />
  )
}
