"""Results for other programs, and measured logs from them: CSV, MCAP, netCDF, Parquet, MATLAB."""
