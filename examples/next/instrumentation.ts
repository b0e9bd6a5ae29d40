/** Next calls this once when the server starts, before its first request, and not in `next build`. */
export async function register() {
  if (process.env.NEXT_RUNTIME === 'nodejs') {
    const { startIds } = await import('./instrumentation-node')
    await startIds()
  }
}
