// Loaded into the command with --import: leaves the most memory that the process ever had, in bytes, in a file.
import { writeFileSync } from 'node:fs';

process.on('exit', () => {
  const { PEAK_FILE } = process.env;
  if (PEAK_FILE) writeFileSync(PEAK_FILE, String(process.resourceUsage().maxRSS * 1024));
});
