/** Styles are joined by the build into a file of their own. */
declare module '*.css';
