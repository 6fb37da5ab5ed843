import { useState } from 'react'
import { MenuToggle, Select, SelectList, SelectOption } from '@patternfly/react-core'
import DesktopIcon from '@patternfly/react-icons/dist/esm/icons/desktop-icon'
import MoonIcon from '@patternfly/react-icons/dist/esm/icons/moon-icon'
import SunIcon from '@patternfly/react-icons/dist/esm/icons/sun-icon'
import { themes, useTheme } from './theme'

const looks = {
  system: { name: 'As the system', Icon: DesktopIcon },
  light: { name: 'Light', Icon: SunIcon },
  dark: { name: 'Dark', Icon: MoonIcon },
}

export function ThemeMenu() {
  const [theme, choose] = useTheme()
  const [isOpen, setOpen] = useState(false)
  const { name, Icon } = looks[theme]
  return (
    <Select
      isOpen={isOpen}
      onOpenChange={setOpen}
      shouldFocusFirstItemOnOpen
      shouldFocusToggleOnSelect
      selected={theme}
      onSelect={(_event, value) => {
        const next = themes.find((other) => other === value)
        if (next) choose(next)
        setOpen(false)
      }}
      popperProps={{ position: 'right', appendTo: 'inline' }}
      toggle={(ref) => (
        <MenuToggle
          ref={ref}
          variant="plain"
          isExpanded={isOpen}
          onClick={() => setOpen(!isOpen)}
          aria-label={`Theme: ${name}`}
          icon={<Icon />}
        />
      )}
    >
      <SelectList aria-label="Theme">
        {themes.map((other) => {
          const { name: label, Icon: Other } = looks[other]
          return <SelectOption key={other} value={other} icon={<Other />}>{label}</SelectOption>
        })}
      </SelectList>
    </Select>
  )
}
