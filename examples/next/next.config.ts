import type { NextConfig } from 'next'

const config: NextConfig = {
  serverExternalPackages: ['mintid'] // native code stays out of the bundle
}

export default config
