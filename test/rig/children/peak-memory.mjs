import { readFileSync } from 'node:fs';

/**
 * The most memory that this process ever had, in bytes. Linux counts as `maxRSS` also what the parent had when it started this
 * process (a fork shares its memory until the new program is loaded); `VmHWM` is of the program alone.
 */
export function peakMemory() {
  try {
    const [, kibibytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
    if (kibibytes !== undefined) return Number(kibibytes) * 1024;
  } catch {
    // Not Linux.
  }
  return process.resourceUsage().maxRSS * 1024;
}
