import { Link } from 'react-router-dom'
import {
  Label, Masthead, MastheadBrand, MastheadContent, MastheadLogo, MastheadMain, MastheadToggle, PageToggleButton,
  Toolbar, ToolbarContent, ToolbarGroup, ToolbarItem,
} from '@patternfly/react-core'
import { useSession } from './session'
import { Who } from './Who'
import { ThemeMenu } from './ThemeMenu'

export function Header() {
  return (
    <Masthead>
      <MastheadMain>
        <MastheadToggle><PageToggleButton isHamburgerButton aria-label="Navigation" /></MastheadToggle>
        <MastheadBrand>
          <MastheadLogo component={(props) => <Link {...props} to="/" className="tabard-name">Tabard</Link>} />
        </MastheadBrand>
      </MastheadMain>
      <MastheadContent>
        <Toolbar isFullHeight isStatic>
          <ToolbarContent>
            <ToolbarGroup align={{ default: 'alignEnd' }} className="tabard-shrinks">
              <Mode />
              <ToolbarItem alignSelf="center" visibility={{ default: 'hidden', md: 'visible' }}><Who /></ToolbarItem>
              <ToolbarItem alignSelf="center"><ThemeMenu /></ToolbarItem>
            </ToolbarGroup>
          </ToolbarContent>
        </Toolbar>
      </MastheadContent>
    </Masthead>
  )
}

function Mode() {
  if (!useSession()?.readOnly) return null
  return <ToolbarItem><Label isCompact className="tabard-middle">Read only</Label></ToolbarItem>
}
