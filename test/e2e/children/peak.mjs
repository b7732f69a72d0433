// Loaded into the command with --import: leaves the most memory that the process ever had, in bytes, in a file.
import { writeFileSync } from 'node:fs';
import { peakMemory } from '../../rig/children/peak-memory.mjs';

process.on('exit', () => {
  const { PEAK_FILE } = process.env;
  if (PEAK_FILE) writeFileSync(PEAK_FILE, String(peakMemory()));
});
