/** The build joins all styles into one file. */
declare module '*.css';
