"""The browser side of every figure: ES modules that know no host; README.md is what a host has to do."""
