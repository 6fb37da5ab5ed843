import { useEffect, useRef, useState, type KeyboardEvent } from 'react'
import { Badge, MenuSearch, MenuSearchInput, MenuToggle, SearchInput, Select, SelectList, SelectOption } from '@patternfly/react-core'
import type { Facet } from '../api/types'
import { count } from '../states/words'

// More values than these are found by typing.
const shown = 50
const searchFrom = 12

interface Props { facet: Facet; chosen: string[]; many: boolean; onToggle: (value: string) => void }

export function FilterMenu({ facet, chosen, many, onToggle }: Props) {
  const [isOpen, setOpen] = useState(false)
  const toggle = (value: string) => {
    onToggle(value)
    if (!many) setOpen(false)
  }
  return (
    <Select
      isOpen={isOpen}
      onOpenChange={setOpen}
      selected={chosen}
      onSelect={(_event, value) => toggle(String(value))}
      // A menu with a search begins there.
      shouldFocusFirstItemOnOpen={facet.values.length < searchFrom}
      shouldFocusToggleOnSelect={!many}
      className="tabard-menu"
      role={many ? 'menu' : 'listbox'}
      isScrollable
      maxMenuHeight="20rem"
      popperProps={{ maxWidth: '20rem', appendTo: 'inline', enableFlip: false }}
      toggle={(ref) => (
        <MenuToggle
          ref={ref}
          isExpanded={isOpen}
          onClick={() => setOpen(!isOpen)}
          badge={chosen.length > 0 && <Badge isRead screenReaderText="chosen">{chosen.length}</Badge>}
        >
          {facet.label}
        </MenuToggle>
      )}
    >
      {isOpen && <Values facet={facet} chosen={chosen} many={many} />}
    </Select>
  )
}

function Values({ facet, chosen, many }: Omit<Props, 'onToggle'>) {
  const [text, setText] = useState('')
  const found = facet.values.filter(({ label }) => label.toLowerCase().includes(text.toLowerCase()))
  return (
    <>
      {facet.values.length >= searchFrom && <Find name={facet.label} text={text} onChange={setText} />}
      <SelectList aria-label={facet.label}>
        {found.slice(0, shown).map((value) => (
          <SelectOption key={value.value} value={value.value} hasCheckbox={many} isSelected={chosen.includes(value.value)}>
            <span className="tabard-breaks">{value.label}</span> <span className="tabard-count">{value.count.toLocaleString('en')}</span>
          </SelectOption>
        ))}
        {found.length > shown && <SelectOption isAriaDisabled>{count(found.length - shown, 'more', 'more')}: type a part of the name</SelectOption>}
        {found.length === 0 && <SelectOption isAriaDisabled>Nothing has this in its name</SelectOption>}
      </SelectList>
    </>
  )
}

interface FindProps { name: string; text: string; onChange: (text: string) => void }

function Find({ name, text, onChange }: FindProps) {
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    // The menu gets its place after it is there; until then, the page must not scroll to it.
    const timer = setTimeout(() => input.current?.focus({ preventScroll: true }))
    return () => clearTimeout(timer)
  }, [])
  return (
    <MenuSearch>
      <MenuSearchInput>
        <SearchInput
          ref={input}
          value={text}
          onChange={(_event, next) => onChange(next)}
          onClear={() => onChange('')}
          onKeyDown={toFirstValue}
          aria-label={`Find in ${name}`}
        />
      </MenuSearchInput>
    </MenuSearch>
  )
}

// The arrows of the menu work among its values only.
function toFirstValue(event: KeyboardEvent<HTMLElement>) {
  if (event.key !== 'ArrowDown') return
  event.preventDefault()
  event.stopPropagation()
  event.currentTarget.closest('.tabard-menu')?.querySelector<HTMLElement>('li button:not(:disabled), li input')?.focus()
}
