import { useState } from 'react'
import { MenuToggle, Select, SelectList, SelectOption } from '@patternfly/react-core'
import SortAmountDownIcon from '@patternfly/react-icons/dist/esm/icons/sort-amount-down-icon'
import type { Query } from './query'

const orders: Record<string, string> = {
  name: 'Name, A to Z',
  '-name': 'Name, Z to A',
  provider: 'Provider, A to Z',
  '-provider': 'Provider, Z to A',
  version: 'Version, oldest first',
  '-version': 'Version, newest first',
  permissions: 'Permissions, fewest first',
  '-permissions': 'Permissions, most first',
}

// Sort has all orders: the table's own buttons are not there on a narrow screen.
export function Sort({ query }: { query: Query }) {
  const [isOpen, setOpen] = useState(false)
  const order = query.get('sort') || 'name'
  return (
    <Select
      isOpen={isOpen}
      onOpenChange={setOpen}
      shouldFocusFirstItemOnOpen
      shouldFocusToggleOnSelect
      selected={order}
      onSelect={(_event, value) => {
        query.set('sort', value === 'name' ? '' : String(value))
        setOpen(false)
      }}
      popperProps={{ appendTo: 'inline' }}
      toggle={(ref) => (
        <MenuToggle ref={ref} isExpanded={isOpen} onClick={() => setOpen(!isOpen)} icon={<SortAmountDownIcon />}>
          <span className="pf-v6-screen-reader">Order: </span>{orders[order] ?? order}
        </MenuToggle>
      )}
    >
      <SelectList aria-label="Order">
        {Object.entries(orders).map(([value, name]) => <SelectOption key={value} value={value}>{name}</SelectOption>)}
      </SelectList>
    </Select>
  )
}
