// VitePress' own theme, with system fonts and no files of fonts.
import theme from 'vitepress/theme-without-fonts'
import './style.css'

export default theme
