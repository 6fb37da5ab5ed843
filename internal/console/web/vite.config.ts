import { defineConfig } from 'vite'
import { licences } from './build/licences.mjs'

export default defineConfig({
  base: '/',
  plugins: [licences()],
  esbuild: { jsx: 'automatic' },
  build: {
    target: 'es2022',
    outDir: 'dist',
    emptyOutDir: true,
    sourcemap: false,
    manifest: true,
    // The Content-Security-Policy takes fonts from the server only, not from data: addresses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
})
